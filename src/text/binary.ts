// Detects binary output and describes it in one line, because a model cannot use the bytes. Text in another encoding
// counts as text if it has few invalid bytes. Text with NUL as separator (`find -print0`) also counts as text.
import {
  BINARY_ODD_MIN_COUNT,
  BINARY_ODD_MIN_SHARE,
  BINARY_SAMPLE_MAX_BYTES,
  BINARY_SIGNATURE_MIN_BYTES,
} from "../support/limits.ts";
import { characterLength, incompleteTailBytes, isContinuation } from "./decode.ts";

export interface BinaryOutput {
  /** The start of the output. Bytes after the first BINARY_SAMPLE_MAX_BYTES have no effect. */
  readonly sample: Uint8Array;
  readonly totalBytes: number;
  /** The file with the raw bytes. */
  readonly outputFile?: string;
}

/** One line about binary output; undefined for text. */
export function describeBinary({ sample, totalBytes, outputFile }: BinaryOutput): string | undefined {
  if (!isBinary(sample)) return undefined;
  const kind = signatureOf(sample)?.kind;
  const size = `${totalBytes} ${totalBytes === 1 ? "byte" : "bytes"}`;
  const looks = kind === undefined ? "" : `, looks like ${kind}`;
  const where = outputFile === undefined ? "" : `; the raw bytes are in ${outputFile}`;
  return `[binary output: ${size}${looks}${where}]`;
}

/**
 * The kind of a binary file, for example "PDF"; "binary data" if the kind is unknown; undefined for text. A file whose
 * first bytes are a signature is binary even if the rest of its start is text, as in many PDFs.
 */
export function binaryKind(sample: Uint8Array): string | undefined {
  const found = signatureOf(sample);
  if (isBinary(sample)) return found?.kind ?? "binary data";
  const isSigned = found !== undefined && found.at === 0 && found.bytes.length >= BINARY_SIGNATURE_MIN_BYTES;
  return isSigned ? found.kind : undefined;
}

export function isBinary(sample: Uint8Array): boolean {
  const start = sample.subarray(0, BINARY_SAMPLE_MAX_BYTES);
  const bytes = start.subarray(0, start.length - incompleteTailBytes(start));
  const odd = countOddBytes(bytes);
  // A few odd bytes do not make the output binary, unless it has a signature that is too long to occur by chance.
  const isKnown = (signatureOf(sample)?.bytes.length ?? 0) >= BINARY_SIGNATURE_MIN_BYTES;
  return odd >= (isKnown ? 1 : BINARY_ODD_MIN_COUNT) && odd > bytes.length * BINARY_ODD_MIN_SHARE;
}

// Odd bytes are bytes that are not UTF-8, control characters that terminal output does not use, and NULs next to
// another NUL. A lone NUL counts as a separator. But if more than a third of all bytes are lone NULs, the output is
// UTF-16.
function countOddBytes(bytes: Uint8Array): number {
  let odd = 0;
  let loneNuls = 0;
  for (let i = 0; i < bytes.length; ) {
    const byte = bytes[i] ?? 0;
    if (byte === 0) {
      if (bytes[i - 1] === 0 || bytes[i + 1] === 0) odd++;
      else loneNuls++;
    } else if (byte < 0x20 && !USUAL_CONTROLS.has(byte)) {
      odd++;
    }
    const length = byte < 0x80 ? 1 : characterLengthAt(bytes, i);
    if (length === 0) odd++;
    i += Math.max(1, length);
  }
  return loneNuls * 3 > bytes.length ? odd + loneNuls : odd;
}

// Returns 0 if the bytes are not a character. This rule is exact enough only to distinguish text from binary output;
// decode.ts has the exact rule.
function characterLengthAt(bytes: Uint8Array, at: number): number {
  const length = characterLength(bytes[at] ?? 0);
  const rest = bytes.subarray(at + 1, at + length);
  return length > 1 && rest.length === length - 1 && rest.every(isContinuation) ? length : 0;
}

interface Signature {
  readonly kind: string;
  readonly at: number;
  readonly bytes: readonly number[];
}

function signatureOf(sample: Uint8Array): Signature | undefined {
  return SIGNATURES.find(({ at, bytes }) => bytes.every((byte, i) => sample[at + i] === byte));
}

const signature = (kind: string, text: string, at = 0): Signature => ({
  kind,
  at,
  bytes: [...Buffer.from(text, "latin1")],
});

const SIGNATURES: readonly Signature[] = [
  signature("PNG", "\x89PNG\r\n\x1a\n"),
  signature("JPEG", "\xff\xd8\xff"),
  signature("GIF", "GIF8"),
  signature("PDF", "%PDF-"),
  signature("WebP", "WEBP", 8),
  signature("WAV", "WAVE", 8),
  signature("ZIP", "PK\x03\x04"),
  signature("gzip", "\x1f\x8b"),
  signature("bzip2", "1AY&SY", 4),
  signature("xz", "\xfd7zXZ\x00"),
  signature("zstd", "\x28\xb5\x2f\xfd"),
  signature("7z", "7z\xbc\xaf\x27\x1c"),
  signature("tar", "ustar", 257),
  signature("ELF", "\x7fELF"),
  signature("Mach-O", "\xcf\xfa\xed\xfe"),
  signature("WebAssembly", "\x00asm"),
  signature("Java class", "\xca\xfe\xba\xbe"),
  signature("SQLite", "SQLite format 3\x00"),
  signature("MP4", "ftyp", 4),
  signature("Ogg", "OggS"),
  signature("FLAC", "fLaC"),
  signature("Windows executable", "MZ"),
  signature("UTF-16 text", "\xff\xfe"),
  signature("UTF-16 text", "\xfe\xff"),
];

// Bell, backspace, tab, line feed, vertical tab, form feed, carriage return, shift out, shift in and escape.
const USUAL_CONTROLS = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x1b]);
