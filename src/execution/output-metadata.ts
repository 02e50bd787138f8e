// The metadata of a BashOutput result.

import type { TerminalMetadata } from "./terminal-view.ts";

export interface BashOutputMetadata extends Partial<TerminalMetadata> {
  readonly bash_id: string;
  readonly status: string;
  readonly exit_code: number | null;
  readonly is_running: boolean;
  readonly duration_ms: number;
  readonly truncated: boolean;
  readonly output_file?: string;
  /** The sandbox that the shell runs in. */
  readonly sandbox?: string;
  /** What ended the wait. */
  readonly waited_for?: "pattern" | "port" | "file" | "exit" | "timeout";
  /**
   * In the result of a search: the number of matching lines, the number of lines tested, and the last line
   * number reached.
   */
  readonly matches?: number;
  readonly searched_lines?: number;
  readonly last_line?: number;
}
