// The screen of one terminal for the page: the current screen, then each changed screen until the shell ends.
import { sizeOf } from "../engine/cursor.ts";
import { rowsWithoutSecrets } from "../execution/terminal-view.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { UI_SCREEN_INTERVAL_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import type { TerminalView } from "../terminal/shell-terminal.ts";
import type { Sanitize } from "./shell-rows.ts";
import type { PageScreen } from "./shell-source.ts";

export async function* pageScreens(
  shell: ShellProcess,
  redactText: Sanitize,
  signal: AbortSignal,
): AsyncGenerator<PageScreen, void, void> {
  const terminal = shell.needTerminal();
  const { stdout, sizes } = shell.started.files;
  for (let seen = ""; !signal.aborted; ) {
    // Read the state first: all output is on disk when the end is known.
    const isLast = terminal.hasEnded;
    const { waiting } = await terminal.state();
    const now = `${waiting} ${sizeOf(stdout)} ${sizeOf(sizes)}`;
    if (now !== seen) yield screenOf(await terminal.view(), redactText);
    seen = now;
    if (isLast) return;
    await sleep(UI_SCREEN_INTERVAL_MS);
  }
}

function screenOf(view: TerminalView, redactText: Sanitize): PageScreen {
  const { size, cursor, waiting, beforeCursor, isPartial } = view;
  return {
    rows: rowsWithoutSecrets(view.rows, size.cols, redactText),
    cols: size.cols,
    cursor: { row: cursor.row - 1, at: beforeCursor.length },
    waiting,
    is_partial: isPartial,
  };
}
