// A note for output that ends with a question. A program that tries to read the answer gets end-of-file, because
// commands have no stdin.
import { PROMPT_TAIL_MAX_CHARS } from "../support/limits.ts";

export function promptNote(text: string): string[] {
  const tail = text.slice(-PROMPT_TAIL_MAX_CHARS);
  if (!QUESTION.test(tail) && !QUESTION_THEN_END.test(tail)) return [];
  return [
    "The output ends with what looks like a question. Commands have no stdin: a program that reads an answer gets end-of-file. Give the answer with an option (such as --yes) or through a pipe (printf 'y\\n' | …).",
  ];
}

/** An unfinished last line that asks: `Continue? `, `Overwrite file [y/N] `, `Password: `. */
const QUESTION =
  /(?:^|\n)[^\n]*(?:\?\s?(?:[[(][^\n\])]{1,20}[\])])?|[[(](?:y(?:es)?\/no?|n\/y)[\])]\??|\b(?:password|passphrase|username|name|choice|selection)[^\n]{0,40})[ :>]*[ :>]$|\?$/i;

/** A question, followed by what programs print at end-of-file. */
const QUESTION_THEN_END =
  /\?[^\n]{0,40}(?:\s*\n?\s*Abort(?:ed)?\.?|\s*Traceback[\s\S]*EOFError: [^\n]*|[^\n]*\bEOF\b[^\n]*)\s*$/;
