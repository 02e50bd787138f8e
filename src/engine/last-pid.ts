// The last PID that the kernel assigned, the largest possible PID, and the number of threads.
import { openSync, readFileSync, readSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { PROC_LOADAVG_READ_BYTES } from "../support/limits.ts";
import { shortageOf } from "../support/system-error.ts";

let largestPid: number | undefined;

/** The number of PIDs before they wrap around. */
export function pidMax(): number {
  largestPid ??= Number(attempt(() => readFileSync("/proc/sys/kernel/pid_max", "latin1"))) || 32_768;
  return largestPid;
}

let loadavg: number | undefined;
const loadavgText = Buffer.alloc(PROC_LOADAVG_READ_BYTES);

/** The last PID that the kernel assigned; each fork changes it. Keeps the file open, because calls are frequent. */
export function lastPid(): number {
  const text = readLoadavg();
  // The last of five fields.
  return Number(text.slice(text.lastIndexOf(" ") + 1)) || 0;
}

/** The number of threads on the machine. */
export function threadCount(): number {
  return Number(/\/(\d+) /.exec(readLoadavg())?.[1] ?? 0);
}

function readLoadavg(): string {
  try {
    loadavg ??= openSync("/proc/loadavg", "r");
    return loadavgText.toString("latin1", 0, readSync(loadavg, loadavgText, 0, loadavgText.length, 0));
  } catch (error) {
    const shortage = shortageOf(error);
    if (shortage) throw shortage;
    return "";
  }
}
