// The text of kit.sh`…`: each value becomes one quoted word. Refuses a value inside quotes, backquotes or arithmetic,
// or after a here-document operator: in these places, bash would expand parts of the value in spite of the quotes.
import { NacreError } from "../support/errors.ts";
import { isPathText, wirePath } from "../support/path-text.ts";
import { shellQuote } from "../support/shell-quote.ts";

type ShWord = string | number | bigint | boolean;

/** An array becomes several words. */
export type ShValue = ShWord | readonly ShWord[];

export function shCommand(parts: readonly string[], values: readonly ShValue[]): string {
  let text = parts[0] ?? "";
  values.forEach((value, index) => {
    const place = openAt(text);
    if (place !== undefined) {
      throw invalid(
        `Value ${index + 1} is inside ${place}, where quoting does not protect it. Write it as a separate word: kit.sh quotes it.`,
      );
    }
    text += `${wordsOf(value, index)}${parts[index + 1] ?? ""}`;
  });
  return text;
}

function wordsOf(value: ShValue, index: number): string {
  const words: readonly unknown[] = Array.isArray(value) ? value : [value];
  return words.map((word) => wordOf(word, index)).join(" ");
}

function wordOf(word: unknown, index: number): string {
  if (typeof word === "number" || typeof word === "bigint" || typeof word === "boolean")
    return shellQuote(String(word));
  if (typeof word !== "string" || word.includes("\0")) {
    throw invalid(
      `Value ${index + 1} cannot be a word of a command. It must be a string without NUL, a number, a boolean, or an array of these.`,
    );
  }
  // wirePath escapes the bytes of a path that are not UTF-8.
  return word.isWellFormed() || !isPathText(word) ? shellQuote(word) : wirePath(word);
}

/** The construct at the end of the text in which a value would not be an ordinary word; undefined if there is none. */
function openAt(text: string): string | undefined {
  const rest = text.replace(CLOSED, (token) => (token === "<<" ? token : token.startsWith("#") ? "\n" : "x"));
  if (rest.includes("<<")) return "a here-document";
  if (/['"]/.test(rest)) return "quotes";
  if (rest.includes("`")) return "backquotes";
  // A newline in the value would end the comment.
  if (/(?:^|[\s;&|()])#[^\n]*$/.test(rest)) return "a comment";
  return rest.split("((").length > rest.split("))").length ? "an arithmetic expression" : undefined;
}

/** Escaped characters, closed quotes, comments, here-strings and here-documents. */
const CLOSED =
  /\\[\s\S]|\$'(?:\\[\s\S]|[^'\\])*'|(?<!\$)'[^']*'|"(?:\\[\s\S]|[^"\\])*"|`(?:\\[\s\S]|[^`\\])*`|(?<![^\s;&|()])#[^\n]*\n|<<<|<</g;

function invalid(message: string): NacreError {
  return new NacreError("invalid_input", message);
}
