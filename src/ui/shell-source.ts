// The shells of one machine as the page needs them. LocalShells implements this for this machine. RemoteShells
// implements it for another machine, where a LocalShells answers (remote/server/ui-endpoint.ts).
import type { StreamName } from "../shell/follow-output.ts";
import type { TerminalInput } from "../terminal/shell-terminal.ts";
import type { Waiting } from "../terminal/waiting.ts";
import type { OutputChunk } from "./page-output.ts";
import type { ShellRow } from "./shell-rows.ts";

/** A stream to a page. `send` resolves when the next piece may follow. */
export interface PageSink<Piece> {
  readonly signal: AbortSignal;
  readonly send: (piece: Piece) => void | Promise<void>;
}

/** How a followed shell ended. */
export interface PageEnd {
  readonly status: string;
  readonly exit_code: number | null;
}

/** The screen of a terminal: rows as text, without secrets. */
export interface PageScreen {
  readonly rows: readonly string[];
  readonly cols: number;
  /** `row` counts from 0; `at` is a position in the text of that row. */
  readonly cursor: { readonly row: number; readonly at: number };
  readonly waiting: Waiting;
  /** Whether only the end of a very long output was drawn. */
  readonly is_partial: boolean;
}

export interface SearchQuery {
  /** RE2; empty for all lines. */
  readonly pattern: string;
  readonly stream?: StreamName;
}

export interface ShellSource {
  /** The rows now. */
  rows(): readonly ShellRow[];
  /** Measures the processes of the shells, if the last measurement is old enough. */
  measure(): Promise<void>;
  output(id: string, sink: PageSink<readonly OutputChunk[]>): Promise<PageEnd>;
  screen(id: string, sink: PageSink<PageScreen>): Promise<PageEnd>;
  search(id: string, query: SearchQuery): Promise<unknown>;
  processes(id: string): Promise<unknown>;
  kill(id: string): Promise<unknown>;
  /** Types for a person, even at a prompt for a secret. Stores none of the text. */
  type(id: string, input: TerminalInput): Promise<unknown>;
}
