// Tells binary output from text, and says what it is in one line instead of dumping it on a model.
// Text in another encoding with few foreign bytes, or with NUL as separator (`find -print0`), stays text.
import {
  BINARY_ODD_MIN_COUNT,
  BINARY_ODD_MIN_SHARE,
  BINARY_SAMPLE_MAX_BYTES,
  BINARY_SIGNATURE_MIN_BYTES,
} from "../support/limits.ts";
import { incompleteTailBytes } from "./decode.ts";

export interface BinaryOutput {
  /** The beginning of the output; more than BINARY_SAMPLE_MAX_BYTES is not looked at. */
  readonly sample: Uint8Array;
  readonly totalBytes: number;
  /** Where the raw bytes can be read. */
  readonly outputFile?: string;
}

/** One line about the output if it is binary, nothing if it is text. */
export function describeBinary({ sample, totalBytes, outputFile }: BinaryOutput): string | undefined {
  if (!isBinary(sample)) return undefined;
  const kind = signatureOf(sample)?.kind;
  const size = `${totalBytes} ${totalBytes === 1 ? "byte" : "bytes"}`;
  const looks = kind === undefined ? "" : `, looks like ${kind}`;
  const where = outputFile === undefined ? "" : `; the raw bytes are in ${outputFile}`;
  return `[binary output: ${size}${looks}${where}]`;
}

export function isBinary(sample: Uint8Array): boolean {
  const looked = sample.subarray(0, BINARY_SAMPLE_MAX_BYTES);
  const bytes = looked.subarray(0, looked.length - incompleteTailBytes(looked));
  const odd = countOddBytes(bytes);
  // A handful of stray bytes is shown as U+FFFD, unless a signature too long for chance says otherwise.
  const isKnown = (signatureOf(sample)?.bytes.length ?? 0) >= BINARY_SIGNATURE_MIN_BYTES;
  return odd >= (isKnown ? 1 : BINARY_ODD_MIN_COUNT) && odd > bytes.length * BINARY_ODD_MIN_SHARE;
}

// Odd: bytes that are not UTF-8, control characters no terminal output uses, and NULs that do not stand
// alone between text. Lone NULs separate names, but where they are a third of all bytes it is UTF-16.
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

// 0 where the bytes are no character. Strict enough to tell text from noise; decode.ts has the exact rule.
function characterLengthAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (let i = at + 1; i < at + length; i++) {
    if (((bytes[i] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
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

// Backspace, tab, line feed, vertical tab, form feed, return, bell, escape and the shifts before colours.
const USUAL_CONTROLS = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x1b]);
