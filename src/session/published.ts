// Commands of a session that become shells like any other, with an id to read and to end them by: one whose
// time was over and that goes on, and one that has ended and left something running.
import { writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { basename } from "node:path";
import type { ExitRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import { type ShellMeta, writeMeta } from "../engine/meta.ts";
import { newShellId } from "../engine/state-dir.ts";
import type { ShellProcessOptions } from "../shell/shell-process.ts";
import { remainsHost } from "./command-processes.ts";
import type { CommandRemains, PublishedBash } from "./session-options.ts";

type Published = Pick<ShellProcessOptions, "processes" | "started" | "command" | "ageMs">;

/** Its bash, which is its own from now on; other processes find it so on disk. */
export function goesOn(host: Engine, part: PublishedBash): Published {
  const { started } = part.bash;
  const { files } = started;
  const meta = commandMeta(part);
  try {
    writeFileSync(files.command, part.command, { mode: 0o600 });
    writeMeta(files.meta, meta);
  } catch {
    // Only other processes read it from there.
  }
  return {
    processes: host,
    started: { ...started, meta, files: { ...files, ...part.files } },
    command: part.command,
    ageMs: part.durationMs,
  };
}

/** Known to this process alone: on disk it is a part of its bash. */
export function remainsOf(host: Engine, remains: CommandRemains): Published {
  const { started } = remains.bash;
  return {
    processes: remainsHost(host, started, remains.number),
    started: {
      ...started,
      id: newShellId(),
      meta: commandMeta(remains),
      files: { ...started.files, ...remains.files },
    },
    command: remains.command,
    ageMs: remains.durationMs,
  };
}

/** Of the command alone, where its bash had that of a session. */
function commandMeta({ bash, files, from, deadline }: PublishedBash): ShellMeta {
  const { isSessionBash: _, ...meta } = bash.started.meta;
  const output = {
    stdout: { file: basename(files.stdout), from: from.stdout },
    stderr: { file: basename(files.stderr), from: from.stderr },
  };
  // On disk it counts from the start of the bash, as for every shell.
  const deadlineMs = deadline && Math.round(uptime() * 1000 + deadline.leftMs - meta.startedUptimeMs);
  return { ...meta, output, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
}

/** How a command ended that has no record of its own. */
export function bashRecord({ exitCode }: Pick<CommandRemains, "exitCode">): ExitRecord {
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
