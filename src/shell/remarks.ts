// Remarks about the end of a shell: what its exit record contains in addition to the exit code.
import { existsSync, readFileSync } from "node:fs";
import { sizeOf } from "../engine/cursor.ts";
import type { ExitRecord } from "../engine/end-record.ts";
import type { ShellMeta } from "../engine/meta.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { SHELL_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import type { StreamName } from "./follow-output.ts";
import { LOGGER_KILLED, spoolFullRemark, truncatedRemark } from "./lost-output.ts";

export function remarksOn(record: ExitRecord, { files, meta }: StartedShell): string[] {
  // The shim of a session's bash knows how the first loggers ended, but not how later loggers did.
  if (meta.output !== undefined && meta.output.stdout.file !== SHELL_NAMES.stdout)
    return confinementRemarks({ files, meta });
  const remarks: string[] = [];
  if (record.capReached) {
    remarks.push(
      `output cap reached: only the first ${meta.capBytes} bytes of a stream are kept, and the command was ended by SIGPIPE when it printed more`,
    );
  }
  if (record.spoolFull) remarks.push(spoolFullRemark(files.dir));
  if (record.loggerLost) remarks.push(LOGGER_KILLED);
  const isRemoved = isCounted(meta) && record.stdoutBytes > 0 && !existsSync(files.stdout);
  if (isRemoved) {
    remarks.push(
      `output lost: its directory ${files.dir} was removed while it ran, and nacre cannot create it again; the exit code is right`,
    );
  } else if (record.unsure) remarks.push("output may be incomplete");
  return [...remarks, ...confinementRemarks({ files, meta })];
}

/** Whether the record counts the bytes of this output. A session counts the bytes of each command itself. */
export function isCounted({ output, role }: ShellMeta): boolean {
  return output === undefined && role === undefined;
}

/** `seen`: streams whose file a reader found truncated. */
export function truncationRemarks(
  record: ExitRecord | undefined,
  { files, meta }: StartedShell,
  seen: ReadonlySet<StreamName>,
): string[] {
  const written = { stdout: record?.stdoutBytes ?? 0, stderr: record?.stderrBytes ?? 0 };
  return (["stdout", "stderr"] as const).flatMap((stream) => {
    const isThere = record !== undefined && isCounted(meta) && existsSync(files[stream]);
    const missing = isThere ? written[stream] - sizeOf(files[stream]) : 0;
    if (missing <= 0 && !seen.has(stream)) return [];
    return [truncatedRemark(files[stream], missing > 0 ? missing : undefined)];
  });
}

/** Remarks about the sandbox and the limits of a shell. */
export function confinementRemarks({ files, meta }: Pick<StartedShell, "files" | "meta">): string[] {
  return meta.confinement
    ? (attempt(() => readFileSync(files.remarks, "utf8").split("\n").filter(Boolean)) ?? [])
    : [];
}
