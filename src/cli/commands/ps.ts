// `nacre ps`: the shells of this user that are on disk, whichever program has started them: those that run and
// those that have ended a short while ago, or all.

import { sizeOf } from "../../engine/cursor.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { wallMs } from "../../support/clock.ts";
import { PS_RECENT_MS, PS_WATCH_MS } from "../../support/limits.ts";
import { shownPath, wirePath } from "../../support/path-text.ts";
import { humanizeBytes } from "../../text/snip.ts";
import { duration } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { lookAtShells } from "../look.ts";
import { type Paint, paintFor, paintStatus } from "../paint.ts";
import { cutEnd, cutStart, oneLine } from "../printable.ts";
import { type Column, table } from "../table.ts";
import { write } from "../write.ts";

export interface PsOptions {
  readonly all?: boolean;
  readonly json?: boolean;
  readonly watch?: boolean;
}

export async function listShells(io: CliIo, options: PsOptions): Promise<number> {
  if (options.watch) return await watchShells(io, options);
  const { shells, hidden } = shellsToShow(options);
  if (options.json) io.stdout.write(jsonOf(shells));
  else if (shells.length > 0) io.stdout.write(tableOf(io, shells));
  else io.stderr.write(hidden === 0 ? "There are no shells.\n" : "No shell is running.\n");
  if (hidden > 0 && !options.json) io.stderr.write(`${hidden} more ended earlier: nacre ps --all\n`);
  return EXIT.ok;
}

/** A new picture whenever something has changed, until Ctrl-C or until the reader has gone. */
async function watchShells(io: CliIo, options: PsOptions): Promise<number> {
  let wake = () => {};
  let over = false;
  using _interruption = new Interruption(() => {
    over = true;
    wake();
  });
  const clear = io.columns === undefined || options.json ? "" : "\x1b[H\x1b[2J";
  for (let last = ""; !over; ) {
    const { shells } = shellsToShow(options);
    const picture = options.json ? jsonOf(shells) : tableOf(io, shells);
    if (picture !== last && !(await write(io.stdout, clear + picture))) return EXIT.brokenPipe;
    last = picture;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PS_WATCH_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  return EXIT.ok;
}

function shellsToShow({ all = false }: PsOptions): { shells: ShellProcess[]; hidden: number } {
  const found = lookAtShells().findAll();
  // That a session's bash ended is no news, and that it was killed would only frighten.
  const isNew = ({ endedAgoMs, started }: ShellProcess) =>
    endedAgoMs === null || (endedAgoMs < PS_RECENT_MS && !started.meta.isSessionBash);
  const shells = all ? found : found.filter(isNew);
  return { shells, hidden: found.length - shells.length };
}

function jsonOf(shells: readonly ShellProcess[]): string {
  return `${JSON.stringify({ shells: shells.map(wireOf) })}\n`;
}

function wireOf(shell: ShellProcess) {
  return {
    id: shell.id,
    command: shell.command,
    cwd: wirePath(shell.workingDir),
    status: shell.status,
    exit_code: shell.exitCode,
    created_at: new Date(shell.createdAt).toISOString(),
    duration_ms: shell.durationMs,
    scope: shell.scope,
    session: shell.started.meta.session,
  };
}

function tableOf(io: CliIo, shells: readonly ShellProcess[]): string {
  const paint = paintFor(io);
  return table(shells, columnsFor(paint), {
    maxColumns: io.columns,
    paintTitle: (title) => paint.bold(title),
  });
}

function columnsFor(paint: Paint): Column<ShellProcess>[] {
  return [
    { title: "ID", cell: ({ id }) => id },
    { title: "STATUS", cell: statusCell, paint: (text, { status }) => paintStatus(paint, status, text) },
    {
      title: "AGE",
      cell: ({ createdAt }) => duration(Math.max(0, wallMs() - createdAt)),
      align: "right",
      goesFirst: true,
    },
    { title: "OUTPUT", cell: (shell) => humanizeBytes(outputBytes(shell)), align: "right", goesFirst: true },
    { title: "SCOPE", cell: ({ scope }) => oneLine(scope, 60), shrinksTo: 7, goesFirst: true },
    {
      title: "CWD",
      cell: ({ workingDir }) => oneLine(tilde(shownPath(workingDir)), 1_000),
      shrinksTo: 10,
      shorten: cutStart,
      goesFirst: true,
    },
    // Never cut for a program that reads us, however long.
    { title: "COMMAND", cell: ({ command }) => oneLine(command, 1_000), shrinksTo: 8, shorten: cutEnd },
  ];
}

/** With the exit code where it says something new. */
function statusCell({ status, exitCode }: ShellProcess): string {
  return status === "failed" && exitCode !== null ? `failed (${exitCode})` : status;
}

function outputBytes({ outputFiles: { stdout, stderr } }: ShellProcess): number {
  return sizeOf(stdout) + sizeOf(stderr);
}

function tilde(path: string): string {
  const home = process.env["HOME"] ?? "";
  return home.length > 1 && (path === home || path.startsWith(`${home}/`))
    ? `~${path.slice(home.length)}`
    : path;
}
