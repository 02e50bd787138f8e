// Paths as text. On Linux a file name is a sequence of bytes, and not always UTF-8. Inside nacre a path is a string: a
// byte that is not part of a UTF-8 character becomes the lone surrogate U+DC00 + byte, which does not occur in UTF-8
// text. So every path has exactly one text, different paths have different texts, and node:path can handle these texts.
// JSON escapes a lone surrogate, so saved state needs no special encoding.
//
//   textOfBytes     bytes from the kernel or bash, as text
//   bytesOfText     the text as bytes, for bash
//   fsPath          the text for node:fs, which would replace a lone surrogate with U+FFFD and so change the name
//   shownPath       the text for people and models
//   wirePath        the text for JSON that leaves this process: many parsers refuse a lone surrogate
import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { STRAY_BYTES, textOfLatin1 } from "./stray-bytes.ts";

/**
 * The character that a decoder writes for a byte that is not UTF-8. A file name can also contain this character itself.
 */
const REPLACEMENT = "\ufffd";

/** Characters that are invisible, end a line, or change the direction of text. */
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
    // latin1 keeps the low byte of each character.
    parts.push(Buffer.from(text.slice(at, index)), Buffer.from(found, "latin1"));
    at = index + found.length;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(at))]);
}

/** Whether textOfBytes can return this text. Other lone surrogates do not represent a byte. */
export function isPathText(text: string): boolean {
  return text.isWellFormed() || textOfBytes(bytesOfText(text)) === text;
}

export function fsPath(text: string): string | Buffer {
  return text.isWellFormed() ? text : bytesOfText(text);
}

/** Whether the path is the directory or below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || directory === "/" || path.startsWith(`${directory}/`);
}

/** The absolute path and its parents up to the root, innermost first. */
export function withParents(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withParents(parent)];
}

/** The target of a symbolic link. */
export function linkTarget(path: string): string {
  const target = readlinkSync(fsPath(path));
  return target.includes(REPLACEMENT) ? textOfBytes(readlinkSync(fsPath(path), "buffer")) : target;
}

/** The path with every link resolved. Throws if it does not exist. */
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
 * The path itself if it is readable. Otherwise a quoted bash word, `$'/srv/d\xff'`, which a model can use in a command.
 * Text with a NUL is returned unchanged, because neither a path nor a bash word can contain a NUL.
 */
export function shownPath(path: string): string {
  return UNREADABLE.test(path) && !path.includes("\0") ? bashWord(path) : path;
}

/** The path itself if it is valid Unicode. Otherwise a quoted bash word, which does not look like an absolute path. */
export function wirePath(path: string): string {
  return path.isWellFormed() ? path : bashWord(path);
}

/** Every escape has two digits, because bash reads at most two digits after `\x`. */
function bashWord(path: string): string {
  const characters = [...path].map((character) => {
    if (character === "\\" || character === "'") return `\\${character}`;
    if (!UNREADABLE.test(character)) return character;
    return bytesOfText(character).reduce(
      (word, byte) => `${word}\\x${byte.toString(16).padStart(2, "0")}`,
      "",
    );
  });
  return `$'${characters.join("")}'`;
}
