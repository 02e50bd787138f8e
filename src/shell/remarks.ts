// What an exit record says besides the code, in words.
import { existsSync, readFileSync } from "node:fs";
import type { StartedShell } from "../hosts/host.ts";
import { sizeOf } from "../spool/cursor.ts";
import type { ExitRecord } from "../spool/end-record.ts";

export function remarksOn(record: ExitRecord, { files, meta }: StartedShell): string[] {
  const remarks: string[] = [];
  if (record.capReached) {
    remarks.push(
      `output cap reached: only the first ${meta.capBytes} bytes of a stream are kept, and the command was ended by SIGPIPE when it printed more`,
    );
  }
  if (record.spoolFull)
    remarks.push(
      "spool full: the disk had no space left for the output; the exit code is right, output is missing",
    );
  if (record.loggerLost)
    remarks.push("logger lost: somebody ended the process that stores the output; output is missing");
  // The shim counts the files it has opened itself.
  const isCounted = meta.output === undefined;
  const short =
    isCounted && (sizeOf(files.stdout) < record.stdoutBytes || sizeOf(files.stderr) < record.stderrBytes);
  const isRemoved = isCounted && record.stdoutBytes > 0 && !existsSync(files.stdout);
  if (isRemoved) {
    remarks.push(
      `output lost: its directory ${files.dir} was removed while it ran and cannot be made again; the exit code is right`,
    );
  } else if (record.unsure || short) remarks.push("output may be incomplete");
  if (meta.confinement) remarks.push(...saved(files.remarks));
  return remarks;
}

function saved(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
