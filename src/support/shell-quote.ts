// Quoting for shells.

/** The text as one literal shell word. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
