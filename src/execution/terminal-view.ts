// The screen of a terminal as a model reads it: plain rows without secrets. Marks the rows that have changed since the
// same reader's last result.
import type { ShellProcess } from "../shell/shell-process.ts";
import type { CursorPosition, ScreenRow } from "../terminal/screen.ts";
import type { TerminalView } from "../terminal/shell-terminal.ts";
import type { Waiting } from "../terminal/waiting.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { sanitizerFor } from "./render.ts";
import { readerOf } from "./scope.ts";
import type { TextSanitizer } from "./spool-text.ts";

export interface TerminalMetadata {
  /** The rows of the screen, without escape sequences. */
  readonly screen: readonly string[];
  /** Row and column count from 1. */
  readonly cursor: CursorPosition;
  /**
   * What the program waits for: a line, a key or a secret; "maybe" if that is not known, "no" if the program does not
   * wait.
   */
  readonly waiting: Waiting;
  /** The numbers, from 1, of the rows that differ from this reader's last result. */
  readonly changed_rows: readonly number[];
}

export interface ShownTerminal {
  readonly metadata: TerminalMetadata;
  readonly notes: readonly string[];
  /** The screen as text. */
  readonly text: string;
  /** The new output followed by the screen, if the output does not fit on the screen. */
  withOutput(output: string, isFiltered: boolean): string;
}

/** The rows that each reader saw last. */
const seen = new WeakMap<ShellProcess, Map<string, readonly string[]>>();

/**
 * The options with raw output turned off: the output contains the control codes that draw the screen, and a reader
 * must not see them, even if the host wants raw output.
 */
export function withoutCodes(options: ResolvedExecutionOptions): ResolvedExecutionOptions {
  return { ...options, rawOutput: false };
}

export async function viewTerminal(
  shell: ShellProcess,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<ShownTerminal> {
  const view = await shell.needTerminal().view();
  const screen = rowsWithoutSecrets(view.rows, view.size.cols, sanitizerFor(withoutCodes(options)));
  const readers = seen.get(shell) ?? new Map<string, readonly string[]>();
  seen.set(shell, readers);
  const before = readers.get(readerOf(context));
  readers.set(readerOf(context), screen);
  const changed = screen.flatMap((row, index) => (row === (before?.[index] ?? "") ? [] : [index + 1]));
  const { cursor, waiting } = view;
  const text = screenText(screen, new Set(before ? changed : []), view);
  return {
    metadata: { screen, cursor, waiting, changed_rows: changed },
    notes: view.isPartial ? [PARTIAL_NOTE] : [],
    text,
    withOutput: (output, isFiltered) => {
      const fits = view.isFullScreen || output.split("\n").length <= view.size.rows;
      return output !== "" && (isFiltered || !fits) ? `${output}\n\n${text}` : text;
    },
  };
}

const PARTIAL_NOTE =
  "The output is so long that the screen was drawn from its end only; parts of the screen may be missing.";

const WAITING_WORDS: Readonly<Record<Waiting, string>> = {
  line: "waits for a line (text, then Enter)",
  key: "waits for a key, or reads a line key by key",
  secret: "waits for a secret: only the user may type it, with nacre attach",
  maybe: "may wait for input",
  no: "does not wait for input",
};

function screenText(
  screen: readonly string[],
  changed: ReadonlySet<number>,
  { cursor, waiting, size }: TerminalView,
): string {
  const last = Math.max(cursor.row, screen.findLastIndex((row) => row !== "") + 1);
  const rows = screen
    .slice(0, last)
    .map((row, index) => `${changed.has(index + 1) ? "*" : " "}${row.trimEnd()}`);
  const marks = changed.size === 0 ? "" : "; * marks changed rows";
  const head = `[screen ${size.rows}x${size.cols}, cursor at row ${cursor.row}, column ${cursor.col}${marks}]`;
  return `${head}\n${rows.join("\n")}\n[waiting: ${waiting}; the program ${WAITING_WORDS[waiting]}]`;
}

/**
 * Removes secrets from the rows. Searches all rows of a line together, because a secret can continue in the next row.
 */
export function rowsWithoutSecrets(
  rows: readonly ScreenRow[],
  cols: number,
  sanitize: TextSanitizer,
): string[] {
  const lines: string[][] = [];
  for (const { text, isContinued } of rows) {
    const line = isContinued ? lines.at(-1) : undefined;
    if (line) line.push(text);
    else lines.push([text]);
  }
  return lines.flatMap((line) => {
    const joined = line.join("");
    const clean = sanitize(joined).replaceAll(/\s*\n\s*/g, " ");
    if (clean === joined) return line;
    return line.map((_, index) => {
      const isLast = index === line.length - 1;
      return clean.slice(index * cols, isLast ? undefined : (index + 1) * cols);
    });
  });
}
