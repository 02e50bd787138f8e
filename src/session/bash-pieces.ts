// Splits what bash prints about itself (`declare -p`, `alias -p`, `trap -p`) into its pieces: one declaration, alias or
// trap each. Values hold line ends, inside quotes. Bytes as latin1, or text. Pure.

/** Each with its line end. */
export function piecesOf(printed: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < printed.length; ) {
    const end = endOfPiece(printed, at);
    pieces.push(printed.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Behind the first line end that stands in no quotes. */
function endOfPiece(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    switch (text[at]) {
      case "\n":
        return at + 1;
      case "\\":
        at++;
        break;
      case '"':
        at = closing(text, at + 1, '"', true);
        break;
      case "'":
        // In '…' a backslash is a backslash, in $'…' it is not.
        at = closing(text, at + 1, "'", text[at - 1] === "$");
        break;
    }
  }
  return text.length;
}

function closing(text: string, from: number, quote: string, escapes: boolean): number {
  let at = from;
  while (at < text.length && text[at] !== quote) at += escapes && text[at] === "\\" ? 2 : 1;
  return at;
}

/** The names of those that `enable -n` has printed. */
export function disabledBuiltins(pieces: readonly string[]): string[] {
  return pieces.flatMap((piece) => /^enable -n (\S+)\n$/.exec(piece)?.[1] ?? []);
}

/** The text of one word in single quotes, as `alias -p` and `trap -p` print it; undefined if it is anything else. */
export function unquoted(word: string): string | undefined {
  if (!/^'(?:[^']|'\\'')*'$/.test(word)) return undefined;
  return word.slice(1, -1).replaceAll("'\\''", "'");
}
