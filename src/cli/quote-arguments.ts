// Quotes arguments for bash.
import { wirePath } from "../support/path-text.ts";
import { shellQuote } from "../support/shell-quote.ts";

export function quoteArguments(args: readonly string[]): string {
  return args.map((arg, index) => quoteArgument(arg, index === 0)).join(" ");
}

/** Also quotes a first argument that bash would read as an assignment or a keyword (`time`, `if`). */
function quoteArgument(arg: string, isFirst: boolean): string {
  const plain = isFirst ? /^[\w@%+:,./-]+$/ : /^[\w@%+=:,./-]+$/;
  if (plain.test(arg) && !(isFirst && KEYWORDS.has(arg))) return arg;
  // A command is text, so bytes that are not UTF-8 must be escaped.
  if (!arg.isWellFormed()) return wirePath(arg);
  return shellQuote(arg);
}

const KEYWORDS = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
