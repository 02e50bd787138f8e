// Makes untrusted text safe for a terminal. This file must not load columns.ts, because every `nacre run` loads this
// file at its start: the segmenter in columns.ts would double the time to load modules.

/** Escapes every control and invisible character except newline and tab. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "?"}}`);
}
