// Decodes the bytes of a file to text, and encodes them back. A decoded text encodes to exactly the same bytes, so an
// edit changes no other byte. Encodings that are not in TextEncoding are refused.
import { NacreError } from "../support/errors.ts";
import { shownPath } from "../support/path-text.ts";
import { binaryKind } from "../text/binary.ts";

export type TextEncoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be";

export interface TextFile {
  readonly text: string;
  readonly encoding: TextEncoding;
}

export type LineEndings = "lf" | "crlf" | "mixed" | "none";

/** Throws for binary data and for other encodings. The error names the kind and the size of the data. */
export function decodeFile(bytes: Buffer, path: string): TextFile {
  const file = decode(bytes, path);
  // A text file contains no NUL. binaryKind() accepts a few NULs, because a command can print NUL as a separator.
  if (file.text.includes("\0")) throw notText(path, "binary data", bytes.length);
  return file;
}

function decode(bytes: Buffer, path: string): TextFile {
  const marked = MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
  if (marked?.encoding === "utf-8-bom")
    return { text: utf8(bytes.subarray(3), path, bytes.length), encoding: "utf-8-bom" };
  if (marked && bytes.length % 2 === 0 && !UTF_32.equals(bytes.subarray(0, 4))) {
    const content = Buffer.from(bytes.subarray(2));
    if (marked.encoding === "utf-16be") content.swap16();
    return { text: content.toString("utf16le"), encoding: marked.encoding };
  }
  const kind = binaryKind(bytes);
  if (kind !== undefined) throw notText(path, kind, bytes.length);
  return { text: utf8(bytes, path, bytes.length), encoding: "utf-8" };
}

function notText(path: string, kind: string, size: number): NacreError {
  return new NacreError(
    "invalid_input",
    `${shownPath(path)} is not text: it is ${article(kind)}${kind} of ${size} bytes. The file tools handle text only; inspect it with a command, for example file or xxd.`,
  );
}

/** Expects well-formed text: call checkWellFormed() first. */
export function encodeText(text: string, encoding: TextEncoding): Buffer {
  if (encoding === "utf-8") return Buffer.from(text);
  if (encoding === "utf-8-bom") return Buffer.concat([UTF_8_MARK, Buffer.from(text)]);
  const content = Buffer.from(text, "utf16le");
  if (encoding === "utf-16be") content.swap16();
  return Buffer.concat([encoding === "utf-16be" ? UTF_16BE_MARK : UTF_16LE_MARK, content]);
}

/** Throws for half of a surrogate pair, which no encoding can represent, and for NUL, which makes a file binary. */
export function checkWellFormed(text: string, parameter: string): void {
  if (text.includes("\0")) {
    throw new NacreError(
      "invalid_input",
      `Parameter ${parameter} contains a NUL character, and a text file contains none. Write binary data with a command, for example printf.`,
    );
  }
  if (text.isWellFormed()) return;
  throw new NacreError(
    "invalid_input",
    `Parameter ${parameter} contains half of a surrogate pair (\\uD800-\\uDFFF), which cannot be written to a file.`,
  );
}

export function lineEndingsOf(text: string): LineEndings {
  const all = count(text, "\n");
  if (all === 0) return "none";
  const crlf = count(text, "\r\n");
  if (crlf === 0) return "lf";
  return crlf === all ? "crlf" : "mixed";
}

function utf8(bytes: Buffer, path: string, size: number): string {
  try {
    return STRICT_UTF_8.decode(bytes);
  } catch {
    throw new NacreError(
      "invalid_input",
      `${shownPath(path)} (${size} bytes) is not UTF-8, and not UTF-16 with a byte order mark. Other encodings are refused, because writing them back could change bytes that you did not mean to change. Convert a copy with iconv in a command.`,
    );
  }
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

function article(kind: string): string {
  return kind === "binary data" ? "" : "a ";
}

const STRICT_UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const UTF_8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF_16LE_MARK = Buffer.from([0xff, 0xfe]);
const UTF_16BE_MARK = Buffer.from([0xfe, 0xff]);
const UTF_32 = Buffer.from([0xff, 0xfe, 0, 0]);
const MARKS: readonly { readonly encoding: TextEncoding; readonly mark: Buffer }[] = [
  { encoding: "utf-8-bom", mark: UTF_8_MARK },
  { encoding: "utf-16le", mark: UTF_16LE_MARK },
  { encoding: "utf-16be", mark: UTF_16BE_MARK },
];
