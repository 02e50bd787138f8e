// Makes untrusted text safe for a terminal and for the messages that a model reads. This file must not load other modules,
// because every `nacre run` loads it at its start.

/** Escapes every control and invisible character except newline and tab. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "?"}}`);
}
