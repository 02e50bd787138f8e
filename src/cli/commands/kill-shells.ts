// `nacre kill`: ends shells, whichever program started them, and reports the processes.
import { describeProcess, namedReport } from "../../execution/leftovers.ts";
import type { KillReport } from "../../shell/kill-report.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { ShellManager } from "../../shell-manager.ts";
import { messageOf } from "../../support/errors.ts";
import { printable } from "../../support/printable.ts";
import { counted } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { printJson, remark } from "../print.ts";

export interface KillOptions {
  readonly ids: readonly string[];
  readonly all?: boolean;
  /** Sends only this signal instead of ending the shell. */
  readonly signal?: NodeJS.Signals;
  readonly json?: boolean;
}

interface Ended extends KillReport {
  readonly id: string;
  readonly status: string;
  readonly already_stopped: boolean;
}

export async function killShells(io: CliIo, options: KillOptions): Promise<number> {
  const { signal, json = false } = options;
  const manager = readOnlyManager();
  const { shells, missing } = shellsOf(manager, options);
  for (const problem of missing) remark(io, problem);
  // Kill in parallel, because each kill can use its whole grace period.
  const all = await Promise.all(shells.map((shell) => end(shell, signal)));
  if (json) {
    const failure = missing.length === 0 ? {} : { error: missing.join("\n"), error_code: "shell_not_found" };
    printJson(io, { shells: all, ...failure });
  } else for (const ended of all) reportKill(io, ended, signal);
  if (shells.length === 0 && missing.length === 0 && !json) io.stderr.write("No shell is running.\n");
  const survived = all.some(
    ({ survivors, unverified, status }) =>
      survivors.length > 0 || unverified || (signal === undefined && status === "running"),
  );
  return survived || missing.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Collects unknown ids instead of throwing, so that the other shells still end. */
function shellsOf(manager: ShellManager, { ids, all }: KillOptions) {
  if (all) return { shells: manager.findAll().filter(({ isRunning }) => isRunning), missing: [] };
  const shells = new Map<string, ShellProcess>();
  const missing: string[] = [];
  for (const id of ids) {
    try {
      const shell = shellById(manager, id);
      shells.set(shell.id, shell);
    } catch (error) {
      missing.push(messageOf(error));
    }
  }
  return { shells: [...shells.values()], missing };
}

async function end(shell: ShellProcess, signal: NodeJS.Signals | undefined): Promise<Ended> {
  const stopped = !shell.isRunning;
  const report = await (signal === undefined ? shell.kill({ by: "nacre kill" }) : shell.sendSignal(signal));
  return { id: shell.id, status: shell.status, already_stopped: stopped, ...namedReport(report, shell) };
}

function reportKill(io: CliIo, ended: Ended, signal: NodeJS.Signals | undefined): void {
  const { id, status, already_stopped, signalled, survivors, unverified } = ended;
  if (already_stopped) io.stdout.write(`Shell ${id} already stopped (status: ${status})\n`);
  else if (signal === undefined && status === "running") io.stdout.write(`Shell ${id} is still running\n`);
  else if (signal === undefined) io.stdout.write(`Shell ${id} terminated\n`);
  else
    io.stdout.write(`Shell ${id}: ${signal} sent to ${counted(signalled.length, "process", "processes")}\n`);
  const what = signal === undefined ? "ended" : "signaled";
  for (const process of signalled) remark(io, `${what}: ${printable(describeProcess(process))}`);
  for (const process of survivors) {
    remark(io, `survived: ${printable(describeProcess(process))}: ${process.reason}`);
  }
  if (unverified) remark(io, `the search for survivors took too long; run nacre kill ${id} again`);
}
