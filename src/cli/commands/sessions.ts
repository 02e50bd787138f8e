// `nacre sessions`: lists the named sessions on disk and closes them.
import { isSameProcess } from "../../engine/process-table.ts";
import { SessionFile } from "../../engine/session-file.ts";
import { wallMs } from "../../support/clock.ts";
import { nearest } from "../../support/nearest.ts";
import { shownPath, wirePath } from "../../support/path-text.ts";
import { duration } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { colorsFor } from "../colors.ts";
import { cutStart } from "../columns.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager } from "../find-shell.ts";
import { printJson, remark } from "../print.ts";
import { table } from "../table.ts";

interface NamedSessionEntry {
  readonly name: string;
  readonly cwd: string;
  /** When the last command of the session ended. */
  readonly usedAt: number;
  /** The process that runs a command in the session. */
  readonly pid: number | undefined;
}

export function listNamedSessions(io: CliIo, { json }: { readonly json?: boolean }): number {
  const entries = entriesOf();
  if (json) {
    const sessions = entries.map(({ name, cwd, usedAt, pid }) => ({
      name,
      cwd: wirePath(cwd),
      used_at: new Date(usedAt).toISOString(),
      in_use: pid !== undefined,
    }));
    printJson(io, { sessions });
  } else if (entries.length === 0) io.stderr.write("There are no named sessions.\n");
  else io.stdout.write(tableOf(io, entries));
  return EXIT.ok;
}

export function closeNamedSessions(
  io: CliIo,
  names: readonly string[],
  { json, all }: { readonly json?: boolean; readonly all?: boolean },
): number {
  const entries = entriesOf();
  const { root } = readOnlyManager();
  const problems: string[] = [];
  const closed: string[] = [];
  for (const name of new Set(all ? entries.map((entry) => entry.name) : names)) {
    const entry = entries.find((one) => one.name === name);
    if (!entry) problems.push(missing(name, entries));
    else if (entry.pid !== undefined)
      problems.push(`Session ${name} is running a command (pid ${entry.pid}): end that command first.`);
    else {
      new SessionFile(root, name).remove();
      closed.push(name);
    }
  }
  if (json) printJson(io, { closed, ...(problems.length > 0 && { error: problems.join("\n") }) });
  else for (const name of closed) io.stdout.write(`Session ${name} closed\n`);
  for (const problem of problems) remark(io, problem);
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

function entriesOf(): NamedSessionEntry[] {
  const { root } = readOnlyManager();
  return SessionFile.names(root).flatMap((name) => {
    const file = new SessionFile(root, name);
    const { cwd } = (file.read() ?? {}) as { readonly cwd?: unknown };
    if (typeof cwd !== "string") return [];
    const holder = file.holder();
    const isBusy = holder !== undefined && isSameProcess(holder.pid, holder.startTime);
    return [{ name, cwd, usedAt: file.writtenAt() ?? 0, pid: isBusy ? holder.pid : undefined }];
  });
}

function missing(name: string, entries: readonly NamedSessionEntry[]): string {
  const names = entries.map((entry) => entry.name);
  const near = nearest(name, names);
  const hint = near === undefined ? "`nacre sessions` lists them." : `Did you mean ${near}?`;
  return `There is no session ${name}. ${hint}`;
}

function tableOf(io: CliIo, entries: readonly NamedSessionEntry[]): string {
  const colors = colorsFor(io);
  return table(
    entries,
    [
      { title: "NAME", cell: ({ name }) => name },
      { title: "STATUS", cell: ({ pid }) => (pid === undefined ? "idle" : `in use (pid ${pid})`) },
      { title: "LAST USED", cell: ({ usedAt }) => `${duration(Math.max(0, wallMs() - usedAt))} ago` },
      { title: "CWD", cell: ({ cwd }) => shownPath(cwd), shrinksTo: 10, shorten: cutStart },
    ],
    { maxColumns: io.columns, paintTitle: (title) => colors.bold(title) },
  );
}
