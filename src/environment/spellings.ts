// The notations in which a program can print one character of a value: as it is, escaped with backslashes (JSON, printf
// %q, $'…'), percent-encoded, as an HTML entity, or spliced into shell quotes. value-search.ts compares values with
// these notations. Results are flat lists of the possible readings: code point, end of its notation, code point, end, …
import {
  REDACT_BACKSLASHES_MAX_COUNT,
  REDACT_INDENT_MAX_CHARS,
  REDACT_SPELLING_MAX_CHARS,
} from "../support/limits.ts";

export const BACKSLASH = 0x5c;
export const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const PERCENT = 0x25;

/** Characters that can start a notation. */
const SPELLING_STARTS = "\\%&'\"+ \r\n";

const STARTS = new Uint8Array(128);
for (const char of SPELLING_STARTS) STARTS[char.charCodeAt(0)] = 1;

export function startsSpelling(code: number): boolean {
  return code < 128 && STARTS[code] === 1;
}

/** Whether the text ends inside a possible notation that starts at `at`. */
export function isCutSpelling(text: string, at: number): boolean {
  return at + REDACT_SPELLING_MAX_CHARS > text.length && CUT.test(text.slice(at));
}

const CUT = /^(?:[\\%][\\%0-9A-Fa-fxuUrn{}]*|\\+\r?\n?[ \t]*|&[#0-9A-Za-z]*|['"][\\'"]*|\r|\r?\n[ \t]*)$/;

/**
 * The characters that the text at `at` can represent. Does not handle backslashes: backslashesAt() and escapedAt()
 * do.
 */
export function spellingsAt(text: string, at: number): readonly number[] {
  const code = text.codePointAt(at) ?? 0;
  switch (text.charAt(at)) {
    case "%":
      return [code, at + 1, ...percentAt(text, at)];
    case "&":
      return [code, at + 1, ...entityAt(text, at)];
    case "'":
      return [code, at + 1, ...splicesAt(text, at, code, ["''", "'\\''", `'"'"'`])];
    case '"':
      return [code, at + 1, ...splicesAt(text, at, code, ['""', `"'"'"`])];
    case "+":
      return [code, at + 1, SPACE, at + 1];
    case " ":
      return [code, at + 1, LINE_FEED, at + 1];
    case "\r":
    case "\n": {
      const end = lineBreakEnd(text, at);
      return end === -1 ? [code, at + 1] : [LINE_FEED, end, LINE_FEED, indentEnd(text, end)];
    }
    default:
      return [code, at + (code > 0xffff ? 2 : 1)];
  }
}

/** The position after a line break at `at` and the following indentation; -1 without a line break. */
export function foldEnd(text: string, at: number): number {
  const end = lineBreakEnd(text, at);
  return end === -1 ? -1 : indentEnd(text, end);
}

/** The number of consecutive backslashes at `at`; 0 if there are too many for an escape. */
export function backslashesAt(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === BACKSLASH) if (++end - at > REDACT_BACKSLASHES_MAX_COUNT) return 0;
  return end - at;
}

/** The characters that the text at `at` can represent after `count` backslashes. */
export function escapedAt(text: string, at: number, count: number): readonly number[] {
  const char = text.charAt(at);
  const control = CONTROLS.get(char);
  if (control !== undefined) {
    const isCrLf = char === "r" && text.startsWith(`${text.slice(at - count, at)}n`, at + 1);
    return isCrLf ? [control, at + 1, LINE_FEED, at + 2 + count] : [control, at + 1];
  }
  if (char === "u" || char === "U") return unicodeAt(text, at, count);
  if (char === "x" || (char >= "0" && char <= "7")) return escapedBytesAt(text, at, count);
  if (/[A-Za-z0-9]/.test(char)) return [];
  const code = text.codePointAt(at);
  return code === undefined ? [] : [code, at + (code > 0xffff ? 2 : 1)];
}

const CONTROLS = new Map(Object.entries({ n: 10, t: 9, r: 13, b: 8, f: 12, a: 7, v: 11, e: 27, E: 27 }));

function lineBreakEnd(text: string, at: number): number {
  const isCrLf = text.charCodeAt(at) === CARRIAGE_RETURN && text.charCodeAt(at + 1) === LINE_FEED;
  if (isCrLf) return at + 2;
  return text.charCodeAt(at) === LINE_FEED ? at + 1 : -1;
}

function indentEnd(text: string, at: number): number {
  let end = at;
  while (end - at < REDACT_INDENT_MAX_CHARS && (text[end] === " " || text[end] === "\t")) end++;
  return end;
}

function splicesAt(text: string, at: number, code: number, splices: readonly string[]): number[] {
  return splices.flatMap((splice) => (text.startsWith(splice, at) ? [code, at + splice.length] : []));
}

function entityAt(text: string, at: number): readonly number[] {
  ENTITY.lastIndex = at;
  const found = ENTITY.exec(text);
  if (found === null) return [];
  const [whole, name, decimal, hex] = found;
  const code =
    name === undefined ? Number.parseInt(decimal ?? hex ?? "", decimal ? 10 : 16) : ENTITIES.get(name);
  return code === undefined ? [] : [code, at + whole.length];
}

const ENTITY = /&(?:(quot|apos|amp|lt|gt);|#(\d{1,7});|#[xX]([0-9A-Fa-f]{1,6});)/y;
const ENTITIES = new Map(Object.entries({ quot: 0x22, apos: 0x27, amp: 0x26, lt: 0x3c, gt: 0x3e }));

// `%40`, and `%2540` for text that was encoded twice.
function percentAt(text: string, at: number): readonly number[] {
  const byte = hexByte(text, at + 1);
  if (byte < 0) return [];
  if (byte >= 0x80) return bytesAt(text, at, "%", hexByte);
  if (byte !== PERCENT) return [byte, at + 3];
  return [byte, at + 3, ...bytesAt(text, at, "%25", hexByte), ...bytesAt(text, at, "%2525", hexByte)];
}

function unicodeAt(text: string, at: number, count: number): readonly number[] {
  UNICODE.lastIndex = at;
  const found = UNICODE.exec(text);
  if (found === null) return [];
  const code = Number.parseInt(found[1] ?? found[2] ?? found[3] ?? "", 16);
  const end = at + found[0].length;
  if (code < 0xd800 || code > 0xdbff) return [code, end];
  // A character outside the BMP is written as two escapes.
  UNICODE.lastIndex = end + count;
  const second = text.startsWith(text.slice(at - count, at), end) ? UNICODE.exec(text) : null;
  const low = Number.parseInt(second?.[1] ?? "", 16);
  if (!(low >= 0xdc00 && low <= 0xdfff)) return [];
  return [0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), end + count + 5];
}

const UNICODE = /u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8})/y;

function escapedBytesAt(text: string, at: number, count: number): readonly number[] {
  const backslashes = text.slice(at - count, at);
  if (text[at] !== "x") return bytesAt(text, at - count, backslashes, octalByte);
  const latin = hexByte(text, at + 1);
  const bytes = bytesAt(text, at - count, `${backslashes}x`, hexByte);
  // Python writes é as \xe9. C and bash write its UTF-8 bytes.
  return latin >= 0x80 ? [latin, at + 3, ...bytes] : bytes;
}

/** A character that is written as UTF-8 bytes, with the same introducer before each byte. */
function bytesAt(
  text: string,
  at: number,
  introducer: string,
  byteAt: (text: string, at: number) => number,
): number[] {
  const width = introducer.length + (byteAt === octalByte ? 3 : 2);
  const byte = (index: number): number => {
    const start = at + index * width;
    return text.startsWith(introducer, start) ? byteAt(text, start + introducer.length) : -1;
  };
  const first = byte(0);
  if (first < 0x80) return first < 0 ? [] : [first, at + width];
  const count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  let code = first & (0xff >> (count + 1));
  for (let index = 1; index < count; index++) {
    const next = byte(index);
    if (next < 0x80 || next > 0xbf) return [];
    code = (code << 6) | (next & 0x3f);
  }
  return [code, at + count * width];
}

function hexByte(text: string, at: number): number {
  const high = digitAt(text, at);
  const low = digitAt(text, at + 1);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function octalByte(text: string, at: number): number {
  const digits = [digitAt(text, at), digitAt(text, at + 1), digitAt(text, at + 2)] as const;
  const [high, middle, low] = digits;
  if (high < 0 || high > 3 || middle < 0 || middle > 7 || low < 0 || low > 7) return -1;
  return high * 64 + middle * 8 + low;
}

function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
