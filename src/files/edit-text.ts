// Replaces text in the content of a file: only exact matches, and either all edits or none. It tolerates two
// differences, because they cannot lead to a wrong match: LF in the edit where the file has CRLF, and the line
// numbers that Read prints.
import { NacreError } from "../support/errors.ts";
import { excerpt } from "../support/excerpt.ts";
import { MESSAGE_LIST_MAX_COUNT } from "../support/limits.ts";
import { type LineEndings, lineEndingsOf } from "./text-file.ts";

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

export interface EditedText {
  readonly text: string;
  readonly replacements: number;
  /** For each edit, the line of its first replacement, counted in the text before that edit. */
  readonly lines: readonly number[];
  readonly notes: readonly string[];
}

/** The text that an edit found, its replacement, and the positions. */
interface Match {
  readonly found: string;
  readonly written: string;
  readonly at: readonly number[];
  readonly note?: string;
}

/** Applies each edit to the result of the edits before it. `explain` describes the lines most similar to a text. */
export function applyEdits(
  text: string,
  edits: readonly TextEdit[],
  explain: (text: string, wanted: string) => string,
): EditedText {
  const notes = new Set<string>();
  const lines: number[] = [];
  let replacements = 0;
  let now = text;
  edits.forEach((edit, i) => {
    const which = edits.length === 1 ? "" : `Edit ${i + 1} of ${edits.length}: `;
    const match = matchOf(now, edit, which, explain);
    if (match.note !== undefined) notes.add(match.note);
    lines.push(lineAt(now, match.at[0] ?? 0));
    replacements += match.at.length;
    now = replaced(now, match);
  });
  return { text: now, replacements, lines, notes: [...notes] };
}

function matchOf(
  text: string,
  edit: TextEdit,
  which: string,
  explain: (text: string, wanted: string) => string,
): Match {
  const { old_string: wanted, new_string: given } = edit;
  if (wanted === given)
    throw new NacreError("invalid_input", `${which}old_string and new_string are equal. ${NOTHING_CHANGED}`);
  if (wanted === "") {
    if (text === "") return { found: "", written: given, at: [0] };
    throw new NacreError(
      "invalid_input",
      `${which}old_string is empty, and the file is not. Name the text to replace; to insert lines, repeat a neighboring line in both strings. ${NOTHING_CHANGED}`,
    );
  }
  const match = firstMatch(text, edit);
  if (!match) {
    const near = explain(text, wanted);
    throw new NacreError(
      "no_match",
      `${which}old_string was not found in the file: ${excerpt(wanted)}. It must match exactly, including white space.${near} ${NOTHING_CHANGED}`,
    );
  }
  // Count overlapping occurrences too: "aa" is in "aaa" twice, and the edit is ambiguous.
  const last = text.lastIndexOf(match.found);
  const at = match.at.includes(last) ? match.at : [...match.at, last];
  if (at.length > 1 && !edit.replace_all) {
    const places = at.slice(0, MESSAGE_LIST_MAX_COUNT).map((place) => lineAt(text, place));
    const more = at.length - places.length;
    throw new NacreError(
      "ambiguous_match",
      `${which}old_string occurs ${at.length} times, at lines ${places.join(", ")}${more > 0 ? ` and ${more} more` : ""}. Add lines around it until it is unique, or set replace_all. ${NOTHING_CHANGED}`,
    );
  }
  return match;
}

/** Tries the edit literally first, then without the line numbers that Read prints. */
function firstMatch(text: string, edit: TextEdit): Match | undefined {
  const endings = lineEndingsOf(text);
  const literal = matchWith(text, edit, endings);
  if (literal.at.length > 0) return literal;
  const stripped = withoutNumbers(edit);
  const match = stripped && matchWith(text, stripped, endings);
  if (!match || match.at.length === 0) return undefined;
  return { ...match, note: "Line numbers at the start of the lines of old_string were ignored." };
}

function matchWith(
  text: string,
  { old_string: wanted, new_string: given }: TextEdit,
  endings: LineEndings,
): Match {
  // If all lines of the file end with CRLF, write each line feed in new_string as CRLF.
  const written = endings === "crlf" && !given.includes("\r") ? withCrlf(given) : given;
  const exact = { found: wanted, written, at: positionsOf(text, wanted) };
  if (exact.at.length > 0 || !wanted.includes("\n") || wanted.includes("\r")) return exact;
  if (endings !== "crlf" && endings !== "mixed") return exact;
  const found = withCrlf(wanted);
  const note = "The lines end with CRLF: old_string and new_string were read that way.";
  return {
    found,
    written: given.includes("\r") ? given : withCrlf(given),
    at: positionsOf(text, found),
    note,
  };
}

/** The edit without the line numbers that Read prints; undefined if a line of old_string has no number. */
function withoutNumbers({
  old_string: wanted,
  new_string: given,
  replace_all,
}: TextEdit): TextEdit | undefined {
  const old = strippedOf(wanted);
  if (old === undefined || old === "") return undefined;
  return { old_string: old, new_string: strippedOf(given) ?? given, replace_all };
}

function strippedOf(text: string): string | undefined {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  const lines = body.split("\n");
  if (!lines.every((line) => NUMBERED.test(line))) return undefined;
  const stripped = lines.map((line) => line.replace(NUMBERED, "")).join("\n");
  return text.endsWith("\n") ? `${stripped}\n` : stripped;
}

function positionsOf(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

function replaced(text: string, { found, written, at }: Match): string {
  const parts: string[] = [];
  let end = 0;
  for (const start of at) {
    parts.push(text.slice(end, start), written);
    end = start + found.length;
  }
  return parts.join("") + text.slice(end);
}

/** The number of the line at a position, starting at 1. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

function withCrlf(text: string): string {
  return text.replaceAll("\n", "\r\n");
}

const NUMBERED = /^ *\d+\t/;
const NOTHING_CHANGED = "Nothing was changed.";
