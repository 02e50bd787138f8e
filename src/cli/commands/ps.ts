// `nacre ps`: every shell of this user that is on disk, whichever program has started it.
import { ShellManager } from "../../shell/shell-manager.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../printable.ts";

export interface PsOptions {
  readonly json?: boolean;
}

export function listShells(io: CliIo, { json = false }: PsOptions): number {
  const shells = new ShellManager({ poolSize: 0 }).findAll();
  if (json) io.stdout.write(`${JSON.stringify({ shells: shells.map(wireOf) })}\n`);
  else if (shells.length === 0) io.stderr.write("There are no shells.\n");
  else io.stdout.write(table(shells));
  return EXIT.ok;
}

function wireOf(shell: ShellProcess) {
  return {
    id: shell.id,
    command: shell.command,
    cwd: shell.workingDir,
    status: shell.status,
    exit_code: shell.exitCode,
    created_at: new Date(shell.createdAt).toISOString(),
    duration_ms: shell.durationMs,
    scope: shell.scope,
    session: shell.started.meta.session,
  };
}

const COMMAND_MAX_CHARS = 60;

function table(shells: readonly ShellProcess[]): string {
  const rows = shells.map((shell) => [
    shell.id,
    shell.status,
    shell.exitCode === null ? "-" : String(shell.exitCode),
    duration(shell.durationMs),
    oneLine(shell.command, COMMAND_MAX_CHARS),
  ]);
  const all = [["ID", "STATUS", "EXIT", "TIME", "COMMAND"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => `${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}\n`).join("");
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
