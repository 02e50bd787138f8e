// Commands of a session that become shells like any other, with an id to read and to end them by: one whose
// time was over and that goes on, and one that has ended and left something running.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { uptime } from "node:os";
import type { Host } from "../hosts/host.ts";
import type { ExitRecord } from "../spool/end-record.ts";
import { remainsHost } from "./command-processes.ts";
import type { CommandRemains, PublishedBash } from "./session-options.ts";
import type { ShellProcessOptions } from "./shell-process.ts";

type Published = Pick<ShellProcessOptions, "host" | "started" | "command" | "outputFrom" | "ageMs">;

/** Its bash, which is its own from now on. */
export function goesOn(host: Host, { bash, command, files, from }: PublishedBash): Published {
  const { started } = bash;
  try {
    writeFileSync(started.files.command, command, { mode: 0o600 });
  } catch {
    // Only other processes read it from there.
  }
  return { host, started: { ...started, files: { ...started.files, ...files } }, command, outputFrom: from };
}

/** Known to this process alone: on disk it is a part of its bash. */
export function remainsOf(host: Host, remains: CommandRemains): Published {
  const { started } = remains.bash;
  return {
    host: remainsHost(host, started, remains.number),
    started: {
      ...started,
      id: `shell_${randomBytes(4).toString("hex")}`,
      files: { ...started.files, ...remains.files },
    },
    command: remains.command,
    outputFrom: remains.from,
    ageMs: remains.durationMs,
  };
}

/** How a command ended that has no record of its own. */
export function recordOf({ exitCode }: Pick<CommandRemains, "exitCode">): ExitRecord {
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
