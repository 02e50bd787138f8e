// Paths as text. On Linux a file name is bytes, and not every name is UTF-8. In this process a path is a string all the
// same: each byte that is no part of a UTF-8 character stands in it as the lone surrogate U+DC00 + byte, which no UTF-8
// text holds. So every path has one text, different paths have different texts, and node:path works on them. JSON keeps
// a lone surrogate as an escape: saved state needs no more.
//
//   textOfBytes     what the kernel or bash said, as text
//   bytesOfText     the text as bytes, for bash
//   fsPath          the text as node:fs takes it: node:fs itself would turn a lone surrogate into U+FFFD, another name
//   shownPath       for people and models
//   wirePath        for JSON that leaves this process: many parsers refuse a lone surrogate
import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { STRAY_BYTES, textOfLatin1 } from "./stray-bytes.ts";

/** What a decoder puts where a byte is no UTF-8. A name can hold it, too. */
const REPLACEMENT = "\ufffd";

/** What cannot be read, would end a line, or would change the order of what is shown. */
const UNREADABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

export function textOfBytes(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes(REPLACEMENT)) return text;
  return textOfLatin1(bytes.toString("latin1"));
}

export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts: Buffer[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(STRAY_BYTES)) {
    // latin1 takes the low byte of each.
    parts.push(Buffer.from(text.slice(at, index)), Buffer.from(found, "latin1"));
    at = index + found.length;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(at))]);
}

/** Whether the text is the one that textOfBytes gives for its bytes. Any other lone surrogate stands for nothing. */
export function isPathText(text: string): boolean {
  return text.isWellFormed() || textOfBytes(bytesOfText(text)) === text;
}

export function fsPath(text: string): string | Buffer {
  return text.isWellFormed() ? text : bytesOfText(text);
}

/** Where a link leads, as its text. */
export function linkTarget(path: string): string {
  const target = readlinkSync(fsPath(path));
  return target.includes(REPLACEMENT) ? textOfBytes(readlinkSync(fsPath(path), "buffer")) : target;
}

/** With every link resolved. Throws where the path leads nowhere. */
export function resolvedPath(path: string): string {
  const real = realpathSync.native(fsPath(path));
  return real.includes(REPLACEMENT) ? textOfBytes(realpathSync.native(fsPath(path), "buffer")) : real;
}

export function namesIn(directory: string): string[] {
  const names = readdirSync(fsPath(directory));
  return names.some((name) => name.includes(REPLACEMENT))
    ? readdirSync(fsPath(directory), "buffer").map(textOfBytes)
    : names;
}

export interface DirectoryEntry {
  readonly name: string;
  isDirectory(): boolean;
}

export function entriesOf(directory: string): readonly DirectoryEntry[] {
  const entries = readdirSync(fsPath(directory), { withFileTypes: true });
  if (!entries.some(({ name }) => name.includes(REPLACEMENT))) return entries;
  return readdirSync(fsPath(directory), { withFileTypes: true, encoding: "buffer" }).map((entry) => ({
    name: textOfBytes(entry.name),
    isDirectory: () => entry.isDirectory(),
  }));
}

/**
 * As it is where that is readable. Else as a word of bash, `$'/srv/d\xff'`: a model can use it in a command. No word of
 * bash holds a NUL, and no path does.
 */
export function shownPath(path: string): string {
  return UNREADABLE.test(path) && !path.includes("\0") ? bashWord(path) : path;
}

/** As it is where JSON can carry it, else as a word of bash. That is never mistaken for an absolute path. */
export function wirePath(path: string): string {
  return path.isWellFormed() ? path : bashWord(path);
}

/** bash reads two digits behind `\x`, whatever follows. */
function bashWord(path: string): string {
  const signs = [...path].map((sign) => {
    if (sign === "\\" || sign === "'") return `\\${sign}`;
    if (!UNREADABLE.test(sign)) return sign;
    return bytesOfText(sign).reduce((word, byte) => `${word}\\x${byte.toString(16).padStart(2, "0")}`, "");
  });
  return `$'${signs.join("")}'`;
}
