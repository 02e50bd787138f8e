// Represents stray bytes, which are not UTF-8, as text. Each such byte becomes the lone surrogate U+DC00 + byte,
// which does not occur in UTF-8 text. Pure and without Node modules, because the policy also reads such text.

/** One UTF-8 character outside ASCII, or a stray byte. Each character of the input is one byte (latin1). */
const CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g;

/** The flag u excludes surrogates that are part of a pair. */
export const STRAY_BYTES = /[\udc80-\udcff]+/gu;

const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of bytes. Each character of `bytes` is one byte (latin1). */
export function textOfLatin1(bytes: string): string {
  return bytes.replace(CHARACTER, (found) =>
    found.length > 1
      ? UTF_8.decode(Uint8Array.from(found, (byte) => byte.charCodeAt(0)))
      : strayByte(found.charCodeAt(0)),
  );
}

/** One byte as text, for a text that is assembled byte by byte. */
export function strayByte(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte);
}

/** Joins adjacent stray bytes that form a character. */
export function joinedBytes(text: string): string {
  return text.isWellFormed()
    ? text
    : text.replace(STRAY_BYTES, (found) =>
        textOfLatin1(String.fromCharCode(...Array.from(found, (stray) => stray.charCodeAt(0) & 0xff))),
      );
}
