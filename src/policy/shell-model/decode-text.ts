// Deterministic text transformations: escapes, printf formats, base64, hex, tr. Covers just enough to read text that a
// pipe would pass to a shell.

import {
  POLICY_FOLDED_MAX_CHARS,
  POLICY_TR_RANGE_MAX_COUNT,
  POLICY_TR_SET_MAX_COUNT,
} from "../../support/limits.ts";
import { joinedBytes, STRAY_BYTES, strayByte, textOfLatin1 } from "../../support/stray-bytes.ts";
import { SOMETHING, unmarked } from "./marks.ts";

/** Backslash escapes as most languages read them: `\xff` is a character. */
export function decodeEscapes(text: string): string {
  return unescaped(text, ECHO, String.fromCharCode);
}

/** Backslash escapes as `echo -e` and `%b` of printf read them: `\xff` is a byte. */
export function decodeByteEscapes(text: string): string {
  return unescaped(text, ECHO, strayByte);
}

/** The text between the quotes of `$'…'`. A NUL ends it. */
export function decodeAnsiC(text: string): string {
  return unescaped(text, ANSI_C, strayByte).split("\0", 1)[0] ?? "";
}

/** The escapes that one program supports. */
interface Dialect {
  readonly pattern: RegExp;
  /** The letters with a meaning that differs from ESCAPES. */
  readonly own: Readonly<Record<string, string>>;
}

const ECHO: Dialect = {
  pattern: /\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0?[0-7]{1,3}|.)/gs,
  own: {},
};
const PRINTF: Dialect = {
  pattern: /\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|.)/gs,
  own: { "?": "?", c: "\\c" },
};
const ANSI_C: Dialect = {
  pattern: /\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)/gs,
  own: { "?": "?" },
};

function unescaped(text: string, { pattern, own }: Dialect, byteText: (byte: number) => string): string {
  if (!text.includes("\\")) return text;
  const decoded = text.replace(pattern, (_whole, body: string) => {
    const [kind = ""] = body;
    if (/[0-7]/.test(kind)) return byteText(Number.parseInt(body, 8) & 0xff);
    if (body.length === 1) return own[kind] ?? ESCAPES[kind] ?? `\\${body}`;
    if (kind === "c") return String.fromCharCode(body.charCodeAt(1) & 0x1f);
    const code = Number.parseInt(body.slice(1), 16);
    return kind === "x" ? byteText(code) : characterText(code, byteText);
  });
  // Keep the marks that the text contained before decoding, because they stand for unknown parts.
  return decoded.isWellFormed() ? decoded : decoded.replace(STRAY_BYTES, (run) => unmarked(joinedBytes(run)));
}

/** bash applies the UTF-8 scheme even to a number that is not a character. The resulting bytes are not UTF-8. */
function characterText(code: number, byteText: (byte: number) => string): string {
  const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (isCharacter) return unmarked(String.fromCodePoint(code));
  if (byteText !== strayByte || code > 0x7fffffff) return SOMETHING;
  const count = code < 0x10000 ? 3 : code < 0x200000 ? 4 : code < 0x4000000 ? 5 : 6;
  const first = ((0xff00 >> count) & 0xff) | (code >> (6 * (count - 1)));
  const others = Array.from({ length: count - 1 }, (_, i) => 0x80 | ((code >> (6 * (count - 2 - i))) & 0x3f));
  return [first, ...others].map(strayByte).join("");
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
  c: "",
};

/** printf repeats its format until all values are used. */
export function formatted(format: string, values: readonly string[]): string | null {
  const decoded = unescaped(format, PRINTF, strayByte);
  const left = values.values();
  let used = 0;
  let text = "";
  do {
    const before = used;
    text += formatOnce(decoded, () => {
      used += 1;
      return left.next().value ?? "";
    });
    if (used === before) break;
  } while (used < values.length && text.length < POLICY_FOLDED_MAX_CHARS);
  return text;
}

function formatOnce(format: string, next: () => string): string {
  return format.replace(
    /%(?:%|[-+ #0]*\d*(?:\.\d+)?([sbcqdiouxXfeEgG]))/g,
    (whole, kind: string | undefined) => {
      if (kind === undefined) return whole === "%%" ? "%" : whole;
      const value = next();
      if (kind === "b") return decodeByteEscapes(value);
      if (kind === "c") return value.slice(0, 1);
      return kind === "s" || kind === "q"
        ? value
        : /^\d+$/.test(value) && whole.length === 2
          ? value
          : SOMETHING;
    },
  );
}

export function decodeBase64(text: string): string | null {
  const compact = text.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(compact)) return null;
  let bits = 0;
  let held = 0;
  let decoded = "";
  for (const char of compact) {
    held = (held << 6) | ALPHABET.indexOf(char);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      decoded += String.fromCharCode((held >> bits) & 0xff);
    }
  }
  return unmarked(textOfLatin1(decoded));
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function decodeHex(text: string): string | null {
  const compact = text.replace(/\s+/g, "");
  if (!/^([0-9A-Fa-f]{2})*$/.test(compact)) return null;
  const decoded = compact.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
  return unmarked(textOfLatin1(decoded));
}

/** Translates text as `tr` does. Does not support classes and complements. */
export function translated(text: string, from: string, to: string): string | null {
  if (/\[:/.test(from + to)) return null;
  const source = trSet(from);
  const target = trSet(to);
  const table = new Map(
    source.map((char, i) => [char, target.length === 0 ? "" : (target[i] ?? target.at(-1) ?? "")]),
  );
  return [...text].map((char) => table.get(char) ?? char).join("");
}

function trSet(text: string): readonly string[] {
  const chars = [...decodeEscapes(text)];
  const set: string[] = [];
  for (let i = 0; i < chars.length && set.length < POLICY_TR_SET_MAX_COUNT; i++) {
    const first = chars[i]?.codePointAt(0) ?? 0;
    const last = chars[i + 1] === "-" ? chars[i + 2]?.codePointAt(0) : undefined;
    if (last === undefined || last < first || last - first > POLICY_TR_RANGE_MAX_COUNT)
      set.push(chars[i] ?? "");
    else {
      for (let code = first; code <= last; code++) set.push(String.fromCodePoint(code));
      i += 2;
    }
  }
  return set;
}
