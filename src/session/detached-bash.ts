// Commands of a session that become shells with their own id: a command that continues after its timeout, and an ended
// command that left processes running.
import { writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { basename } from "node:path";
import type { ExitRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import { type ShellMeta, writeMeta } from "../engine/meta.ts";
import { newShellId } from "../engine/state-ids.ts";
import type { StreamName } from "../shell/follow-output.ts";
import type { OutputPart } from "../shell/output-part.ts";
import type { ShellProcessOptions } from "../shell/shell-process.ts";
import { leftoverScope } from "./command-processes.ts";
import type { DetachedBash, LeftoverCommand } from "./session-options.ts";

type NewShell = Pick<ShellProcessOptions, "processes" | "started" | "command" | "ageMs" | "endIsReported">;

/** The shell of a command that keeps its bash. Other processes find this command on disk as a separate shell. */
export function detachedShell(engine: Engine, detached: DetachedBash): NewShell {
  const { started } = detached.bash;
  const { files } = started;
  const meta = commandMeta(detached);
  try {
    writeFileSync(files.command, detached.command, { mode: 0o600 });
    writeMeta(files.meta, meta);
  } catch {
    // Continue without these files: only other processes read them.
  }
  return {
    processes: engine,
    started: { ...started, meta, files: { ...files, ...detached.files } },
    command: detached.command,
    ageMs: detached.durationMs,
    endIsReported: true,
  };
}

/** The shell of an ended command. It exists only in this process: on disk, the command is part of its bash. */
export function leftoverShell(engine: Engine, left: LeftoverCommand): NewShell {
  const { started } = left.bash;
  return {
    processes: leftoverScope(engine, started, left.number),
    started: {
      ...started,
      id: newShellId(),
      meta: commandMeta(left),
      files: { ...started.files, ...left.files },
    },
    command: left.command,
    ageMs: left.durationMs,
  };
}

/** The files with the whole output of an ended command. `fileOf` returns a copy of a part, or the shared file. */
export function outputPlace(
  { stdout, stderr }: Readonly<Record<StreamName, OutputPart>>,
  fileOf: (stream: StreamName) => string,
): Pick<Required<DetachedBash>, "files" | "from" | "to"> {
  const files = { stdout: fileOf("stdout"), stderr: fileOf("stderr") };
  // A copy contains only this part.
  const start = (part: OutputPart, file: string) => (file === part.path ? part.from : 0);
  const from = { stdout: start(stdout, files.stdout), stderr: start(stderr, files.stderr) };
  const to = { stdout: from.stdout + stdout.to - stdout.from, stderr: from.stderr + stderr.to - stderr.from };
  return { files, from, to };
}

/** The meta of the command, which replaces that of its bash. */
function commandMeta({ bash, label, files, from, to, deadline }: DetachedBash): ShellMeta {
  const { role: _, ...meta } = bash.started.meta;
  const output = {
    stdout: { file: basename(files.stdout), from: from.stdout, ...(to && { to: to.stdout }) },
    stderr: { file: basename(files.stderr), from: from.stderr, ...(to && { to: to.stderr }) },
  };
  // On disk, the deadline counts from the start of bash, as for every shell.
  const deadlineMs = deadline && Math.round(uptime() * 1000 + deadline.leftMs - meta.startedUptimeMs);
  return { ...meta, ...label, output, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
}

/** The exit record of a command that has none on disk. */
export function bashRecord({ exitCode }: Pick<LeftoverCommand, "exitCode">): ExitRecord {
  return {
    code: exitCode,
    capReached: false,
    spoolFull: false,
    loggerLost: false,
    unsure: false,
    stdoutBytes: 0,
    stderrBytes: 0,
    endedUptimeMs: Math.round(uptime() * 1000),
  };
}
