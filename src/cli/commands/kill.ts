// `nacre kill`: ends shells, whichever program has started them, and says what was found.
import type { KillReport } from "../../shell/kill.ts";
import { ShellManager } from "../../shell/shell-manager.ts";
import { messageOf } from "../../support/errors.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { findShell } from "../find-shell.ts";

export interface KillOptions {
  readonly ids: readonly string[];
  readonly json?: boolean;
}

interface Ended extends KillReport {
  readonly id: string;
  readonly status: string;
  readonly already_stopped: boolean;
}

export async function killShells(io: CliIo, { ids, json = false }: KillOptions): Promise<number> {
  const manager = new ShellManager({ poolSize: 0 });
  let exitCode: number = EXIT.ok;
  const all: Ended[] = [];
  // One that cannot be found is no reason to leave the others running.
  for (const id of ids) {
    try {
      const ended = await end(manager, id);
      all.push(ended);
      if (ended.survivors.length > 0) exitCode = EXIT.failed;
      if (!json) tell(io, ended);
    } catch (error) {
      exitCode = EXIT.failed;
      io.stderr.write(`nacre: ${messageOf(error)}\n`);
    }
  }
  if (json) io.stdout.write(`${JSON.stringify({ shells: all })}\n`);
  return exitCode;
}

async function end(manager: ShellManager, id: string): Promise<Ended> {
  const shell = findShell(manager, id);
  const stopped = !shell.isRunning;
  const { signalled, survivors } = await shell.kill({ by: "nacre kill" });
  return { id: shell.id, status: shell.status, already_stopped: stopped, signalled, survivors };
}

function tell(io: CliIo, { id, status, already_stopped, signalled, survivors }: Ended): void {
  const words = already_stopped ? `already stopped (status: ${status})` : "terminated";
  io.stdout.write(`Shell ${id} ${words}\n`);
  for (const { pid, command } of signalled) io.stderr.write(`nacre: ended: ${command} (pid ${pid})\n`);
  for (const { pid, command, reason } of survivors) {
    io.stderr.write(`nacre: survived: ${command} (pid ${pid}): ${reason}\n`);
  }
}
