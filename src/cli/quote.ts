// Words as bash reads them back: each one argument, whatever it holds.

import { wirePath } from "../support/path-text.ts";
import { shellQuote } from "../support/shell-quote.ts";

export function quoteWords(words: readonly string[]): string {
  return words.map((word, index) => quoteWord(word, index === 0)).join(" ");
}

/** The first word must not turn into an assignment or a keyword (`time`, `if`): it is quoted where it could. */
function quoteWord(word: string, isFirst: boolean): string {
  const plain = isFirst ? /^[\w@%+:,./-]+$/ : /^[\w@%+=:,./-]+$/;
  if (plain.test(word) && !(isFirst && KEYWORDS.has(word))) return word;
  // Bytes that are no UTF-8: a command is text.
  if (!word.isWellFormed()) return wirePath(word);
  return shellQuote(word);
}

const KEYWORDS = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
