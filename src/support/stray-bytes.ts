// Bytes that are no UTF-8, in text: each is the lone surrogate U+DC00 + byte, which no UTF-8 text holds. Pure, and without
// anything of Node: the policy reads such text, too.

/** One UTF-8 character beyond ASCII, or a byte that is part of none. Of bytes as latin1. */
const CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g;

/** With the flag u a surrogate that is half of a pair does not match. */
export const STRAY_BYTES = /[\udc80-\udcff]+/gu;

const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Of bytes as latin1, one character each. */
export function textOfLatin1(bytes: string): string {
  return bytes.replace(CHARACTER, (found) =>
    found.length > 1
      ? UTF_8.decode(Uint8Array.from(found, (byte) => byte.charCodeAt(0)))
      : strayByte(found.charCodeAt(0)),
  );
}

/** A byte as text, for a text whose bytes are put together one by one. */
export function strayByte(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte);
}

/** Neighbouring stray bytes that are a character become that character. */
export function joinedBytes(text: string): string {
  return text.isWellFormed()
    ? text
    : text.replace(STRAY_BYTES, (found) =>
        textOfLatin1(String.fromCharCode(...Array.from(found, (stray) => stray.charCodeAt(0) & 0xff))),
      );
}
