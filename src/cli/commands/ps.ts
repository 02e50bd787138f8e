// `nacre ps`: lists the shells of this user, whichever program started them. Without --all, lists only shells that are
// running or ended recently.
import { sizeOf } from "../../engine/cursor.ts";
import { labelOf } from "../../engine/meta.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { wallMs } from "../../support/clock.ts";
import { PS_CELL_MAX_CHARS, PS_RECENT_MS, PS_SCOPE_MAX_CHARS, PS_WATCH_MS } from "../../support/limits.ts";
import { shownPath, wirePath } from "../../support/path-text.ts";
import { humanizeBytes } from "../../text/snip.ts";
import { duration } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { type Colors, colorStatus, colorsFor } from "../colors.ts";
import { cutEnd, cutStart, oneLine } from "../columns.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager } from "../find-shell.ts";
import { Interruption } from "../interruption.ts";
import type { PsFilter } from "../option.ts";
import { type Column, table } from "../table.ts";
import { write } from "../write.ts";

export interface PsOptions {
  readonly all?: boolean;
  readonly json?: boolean;
  readonly watch?: boolean;
  /** Prints only ids. */
  readonly quiet?: boolean;
  readonly filter?: readonly PsFilter[];
}

export async function listShells(io: CliIo, options: PsOptions): Promise<number> {
  if (options.watch) return await watchShells(io, options);
  const { shells, hidden } = shellsToShow(options);
  if (shells.length > 0 || options.json || options.quiet) io.stdout.write(listOf(io, shells, options));
  else io.stderr.write(`${noShells(options, hidden)}\n`);
  if (hidden > 0 && !options.json && !options.quiet)
    io.stderr.write(`${hidden} more ended earlier: nacre ps --all\n`);
  return EXIT.ok;
}

function listOf(io: CliIo, shells: readonly ShellProcess[], { json, quiet }: PsOptions): string {
  if (json) return jsonOf(shells);
  if (quiet) return shells.map(({ id }) => `${id}\n`).join("");
  return tableOf(io, shells);
}

function noShells({ filter = [] }: PsOptions, hidden: number): string {
  if (filter.length > 0) return "No shell matches the filter.";
  return hidden === 0 ? "There are no shells." : "No shell is running.";
}

/** Prints the list again whenever it changes, until Ctrl-C or until the reader closes the pipe. */
async function watchShells(io: CliIo, options: PsOptions): Promise<number> {
  let wake = () => {};
  let isInterrupted = false;
  using _interruption = new Interruption(io, () => {
    isInterrupted = true;
    wake();
  });
  const clear = io.columns === undefined || options.json ? "" : "\x1b[H\x1b[2J";
  for (let last = ""; !isInterrupted; ) {
    const { shells } = shellsToShow(options);
    const list = listOf(io, shells, options);
    if (list !== last && !(await write(io.stdout, clear + list))) return EXIT.brokenPipe;
    last = list;
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

function shellsToShow({ all = false, filter = [] }: PsOptions): { shells: ShellProcess[]; hidden: number } {
  const found = readOnlyManager()
    .findAll()
    .filter((shell) => filter.every((one) => isMatch(shell, one)));
  // Hide the ended bashes of sessions and the ended workers of the file tools: users did not start them, and their status
  // `killed` would be misleading.
  const isRecent = ({ endedAgoMs, started }: ShellProcess) =>
    endedAgoMs === null || (endedAgoMs < PS_RECENT_MS && started.meta.role === undefined);
  const shells = all ? found : found.filter(isRecent);
  return { shells, hidden: found.length - shells.length };
}

function isMatch(shell: ShellProcess, { key, value }: PsFilter): boolean {
  if (key === "command" || key === "cwd")
    return (key === "cwd" ? shell.workingDir : shell.command).includes(value);
  if (key === "status" || key === "scope") return shell[key] === value;
  return shell.started.meta[key] === value;
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
    ...labelOf(shell.started.meta),
  };
}

function tableOf(io: CliIo, shells: readonly ShellProcess[]): string {
  const colors = colorsFor(io);
  const hasNames = shells.some(({ started }) => started.meta.name !== undefined);
  // Running shells come first. Each group is sorted from the oldest to the newest.
  const rows = shells.toSorted((a, b) => Number(b.isRunning) - Number(a.isRunning));
  return table(rows, columnsFor(colors, hasNames), {
    maxColumns: io.columns,
    paintTitle: (title) => colors.bold(title),
  });
}

const nameColumn: Column<ShellProcess> = { title: "NAME", cell: ({ started }) => started.meta.name ?? "" };

function columnsFor(colors: Colors, hasNames: boolean): Column<ShellProcess>[] {
  return [
    { title: "ID", cell: ({ id }) => id },
    ...(hasNames ? [nameColumn] : []),
    { title: "STATUS", cell: statusCell, paint: (text, { status }) => colorStatus(colors, status, text) },
    {
      title: "AGE",
      cell: ({ createdAt }) => duration(Math.max(0, wallMs() - createdAt)),
      align: "right",
      isOptional: true,
    },
    {
      title: "DURATION",
      cell: ({ durationMs }) => duration(durationMs),
      align: "right",
      isOptional: true,
    },
    { title: "OUTPUT", cell: (shell) => humanizeBytes(outputBytes(shell)), align: "right", isOptional: true },
    {
      title: "SCOPE",
      cell: ({ scope }) => oneLine(scope, PS_SCOPE_MAX_CHARS),
      shrinksTo: 7,
      isOptional: true,
    },
    {
      title: "CWD",
      cell: ({ workingDir }) => oneLine(tilde(shownPath(workingDir)), PS_CELL_MAX_CHARS),
      shrinksTo: 10,
      shorten: cutStart,
      isOptional: true,
    },
    // Without a terminal, this column does not shrink, because a program may read it.
    {
      title: "COMMAND",
      cell: ({ command }) => oneLine(command, PS_CELL_MAX_CHARS),
      shrinksTo: 8,
      shorten: cutEnd,
    },
  ];
}

/** The status, with the exit code if the command failed. */
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
