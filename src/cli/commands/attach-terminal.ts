// `nacre attach`: connects the user's terminal to the terminal of a shell until the shell ends or the user detaches.
// Draws the screen once, then copies bytes in both directions.
import type { ReadStream } from "node:tty";
import { isOwned } from "../../engine/lease.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { NacreError } from "../../support/errors.ts";
import { deferred } from "../../support/timing.ts";
import { QueryFilter } from "../../terminal/query-filter.ts";
import type { TerminalView } from "../../terminal/shell-terminal.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { Interruption } from "../interruption.ts";
import { remark } from "../print.ts";

export interface AttachOptions {
  readonly id: string;
  readonly detachKey: string;
}

/**
 * Resets everything that the program may have changed in the user's terminal: the alternate screen, the cursor, keys,
 * paste, mouse and focus reports, wrapping, scrolling region, insert mode, character set, inverse screen and colors.
 */
const RESET = [
  ...["\x1b[?1049l", "\x1b[?25h", "\x1b[?1l", "\x1b>", "\x1b[>4m", "\x1b[?2004l", "\x1b[?9l", "\x1b[?1000l"],
  ...["\x1b[?1002l", "\x1b[?1003l", "\x1b[?1004l", "\x1b[?1006l", "\x1b[?1015l", "\x1b[?7h", "\x1b[?6l"],
  ...["\x1b[r", "\x1b[4l", "\x1b(B", "\x0f", "\x1b[?5l", "\x1b[0 q", "\x1b[0m"],
].join("");

export async function attachTerminal(io: CliIo, { id, detachKey }: AttachOptions): Promise<number> {
  const detach = detachByte(detachKey);
  const stdin = io.stdin as ReadStream;
  if (!io.interactive || typeof stdin.setRawMode !== "function")
    throw new NacreError(
      "invalid_input",
      "nacre attach needs a terminal at its stdin and stderr. To type from a script, use nacre send.",
    );
  const shell = shellById(readOnlyManager(), id);
  const terminal = shell.needTerminal();
  // Throws for an ended shell.
  terminal.check({});
  remark(io, `attached to ${shell.id}; ${detachKey} leaves and lets it run`);
  // If no host owns the shell, this process answers the program's queries.
  if (!isOwned(shell.started.files, shell.started.meta)) terminal.answer("now");
  const left = deferred<"left">();
  // Without this handler, a signal would end the process before the terminal is restored.
  using interruption = new Interruption(io, () => left.resolve("left"));
  const onData = (bytes: Buffer) => {
    const at = bytes.indexOf(detach);
    const typed = at < 0 ? bytes : bytes.subarray(0, at);
    if (typed.length > 0) terminal.typeBytes(typed).catch(() => {});
    if (at >= 0) left.resolve("left");
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  const stop = new AbortController();
  let resizing = Promise.resolve();
  // Resize one after the other: otherwise an older size could overtake a newer one.
  const onResize = () => {
    resizing = resizing.then(() => adaptSize(shell)).catch(() => {});
    return resizing;
  };
  process.stdout.on("resize", onResize);
  try {
    const from = shell.outputParts.stdout.to;
    io.stdout.write(drawn(await terminal.view()));
    await onResize();
    const shown = show(io, shell, from, stop.signal);
    const ending = await Promise.race([left.promise, shown]);
    if (ending === "left") return interruption.exitCode ?? EXIT.ok;
    // After a kill, script(1) can exit with 0. Report that as a failure.
    return (shell.outcome?.kind === "exited" ? shell.exitCode : shell.exitCode || null) ?? EXIT.failed;
  } finally {
    stop.abort();
    terminal.close();
    process.stdout.off("resize", onResize);
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
    io.stdout.write(`${RESET}\r\n`);
    remark(io, shell.isRunning ? `left ${shell.id}, which is still running` : `${shell.id} has ended`);
  }
}

/** Prints new output unchanged, without sequences that make the user's terminal answer or change its clipboard. */
async function show(io: CliIo, shell: ShellProcess, from: number, signal: AbortSignal): Promise<"ended"> {
  const filter = new QueryFilter();
  for await (const { stream, bytes } of shell.outputBytes({ from: { stdout: from, stderr: 0 }, signal }))
    if (stream === "stdout") io.stdout.write(filter.push(bytes));
  return "ended";
}

/** Gives the shell's terminal the size of the user's window. The program then redraws its screen. */
async function adaptSize(shell: ShellProcess): Promise<void> {
  const { rows, columns: cols } = process.stdout;
  if (!rows || !cols) return;
  const { size } = await shell.needTerminal().view();
  // The kernel notifies the program only of a changed size: for a redraw, change the size twice.
  if (size.rows === rows && size.cols === cols)
    await shell.resize({ rows: rows > 2 ? rows - 1 : rows + 1, cols });
  await shell.resize({ rows, cols });
}

/** The screen as text, and the modes that the program has set. */
function drawn({ rows, cursor, isFullScreen, modes }: TerminalView): string {
  const last = rows.findLastIndex(({ text }) => text !== "") + 1;
  const set = [
    isFullScreen ? "\x1b[?1049h" : "",
    modes.applicationCursor ? "\x1b[?1h" : "",
    modes.bracketedPaste ? "\x1b[?2004h" : "",
  ];
  const lines = rows.slice(0, Math.max(last, cursor.row)).map(({ text }) => text);
  return `${set.join("")}\x1b[H\x1b[2J${lines.join("\r\n")}\x1b[${cursor.row};${cursor.col}H`;
}

/** The byte that the terminal sends for Ctrl with a letter or one of [ \ ] ^ _. */
function detachByte(key: string): number {
  const character = /^Ctrl-([A-Za-z[\\\]^_])$/i.exec(key)?.[1];
  if (character !== undefined) return character.toUpperCase().charCodeAt(0) & 0x1f;
  throw new NacreError(
    "invalid_input",
    `--detach-key ${JSON.stringify(key)} is not a key to leave with: use Ctrl- and a letter, or one of [ \\ ] ^ _, for example Ctrl-].`,
  );
}
