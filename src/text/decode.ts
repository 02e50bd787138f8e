// Decodes UTF-8 bytes in chunks of any size. Invalid bytes become U+FFFD. A character is never split. Also finds the
// positions at which bytes can be cut without splitting a character.
import { StringDecoder } from "node:string_decoder";

export interface Utf8Decoder {
  /** Returns the decoded text. If the chunk ends inside a character, the next call returns that character. */
  push(bytes: Uint8Array): string;
  /** Returns U+FFFD if the last character is incomplete. The decoder can then be used again. */
  end(): string;
}

export function createUtf8Decoder(): Utf8Decoder {
  // StringDecoder is six times as fast as a streaming TextDecoder, and returns the same text for invalid input.
  const decoder = new StringDecoder("utf8");
  return {
    push: (bytes) => decoder.write(asBuffer(bytes)),
    end: () => decoder.end(),
  };
}

/** All bytes as text, including a byte order mark, so that no output is lost. */
export function decodeUtf8(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("utf8");
}

/**
 * The number of bytes at the end (0 to 3) that start a character without completing it. A cursor stops before these
 * bytes, so that a read never returns half a character. An invalid ending counts as complete.
 */
export function incompleteTailBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const lead = bytes[bytes.length - back] ?? 0;
    if (isContinuation(lead)) continue;
    const complete = characterLength(lead);
    if (complete <= back) return 0;
    return back === 1 || isValidSecond(lead, bytes[bytes.length - back + 1] ?? 0) ? back : 0;
  }
  return 0;
}

/**
 * The number of bytes at the start (0 to 3) that belong to a character which starts before them. Use this when you
 * read the tail of a file from an arbitrary offset.
 */
export function orphanedHeadBytes(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && count < bytes.length && isContinuation(bytes[count] ?? 0)) count++;
  return count;
}

/** `characters` counts UTF-16 units, as String.length does. `lines` counts line feeds. */
export interface TextSize {
  readonly characters: number;
  readonly lines: number;
}

/** The size of valid UTF-8, without decoding it. The size of a file is the sum over its chunks. */
export function measureUtf8(bytes: Uint8Array): TextSize {
  let characters = 0;
  let lines = 0;
  for (const byte of bytes) {
    if (byte < 0x80) {
      characters++;
      if (byte === 0x0a) lines++;
    } else if (byte >= 0xc0) {
      characters += byte >= 0xf0 ? 2 : 1;
    }
  }
  return { characters, lines };
}

/** The size of decoded text. */
export function measureText(text: string): TextSize {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return { characters: text.length, lines };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The number of bytes of a character with this first byte; 1 for ASCII and for bytes that start no character. */
export function characterLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 1;
}

// Overlong forms, surrogates and values above U+10FFFF are invalid from their second byte on. Without this check the
// decoder would hold back bytes that can never become a character.
function isValidSecond(lead: number, second: number): boolean {
  if (lead === 0xe0) return second >= 0xa0;
  if (lead === 0xed) return second <= 0x9f;
  if (lead === 0xf0) return second >= 0x90;
  if (lead === 0xf4) return second <= 0x8f;
  return true;
}
