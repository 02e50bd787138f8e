// Writes bytes to the input pipe of a terminal. The first process of the shell has the pipe open for reading and
// writing. So any host can open the pipe through /proc, and the pipe stays open when a host dies.
import { closeSync, writeSync } from "node:fs";
import { INPUT_FD, openPipe } from "../engine/process-pipe.ts";
import { isSameProcess } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { TERMINAL_START_MAX_MS, TERMINAL_TYPE_MAX_MS, TERMINAL_TYPE_POLL_MS } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";
import { sleep } from "../support/timing.ts";

type Target = Pick<StartedShell, "id" | "commandPid" | "commandStart">;

/** Returns how many bytes were typed. Types fewer bytes if the program does not read them in time or has ended. */
export async function typeBytes(target: Target, bytes: Uint8Array): Promise<number> {
  const fd = await openInput(target);
  if (fd === undefined) return 0;
  try {
    const deadline = monotonicMs() + TERMINAL_TYPE_MAX_MS;
    let typed = 0;
    while (typed < bytes.length) {
      const count = writeSome(fd, bytes.subarray(typed));
      if (count === undefined) return typed;
      typed += count;
      if (count > 0) continue;
      if (monotonicMs() > deadline) return typed;
      await sleep(TERMINAL_TYPE_POLL_MS);
    }
    return typed;
  } finally {
    closeSync(fd);
  }
}

/** Waits for the pipe, because a new shell may not have opened it yet. Returns undefined if the shell has ended. */
async function openInput({
  id,
  commandPid: pid,
  commandStart: startTime,
}: Target): Promise<number | undefined> {
  const deadline = monotonicMs() + TERMINAL_START_MAX_MS;
  for (;;) {
    const fd = openPipe({ pid, startTime }, INPUT_FD, "write");
    if (fd !== undefined || !isSameProcess(pid, startTime)) return fd;
    if (monotonicMs() > deadline) {
      throw new NacreError(
        "unavailable",
        `The terminal of ${id} has no input after ${TERMINAL_START_MAX_MS}ms: its first process may be stopped. See what it does with nacre why ${id}.`,
      );
    }
    await sleep(TERMINAL_TYPE_POLL_MS);
  }
}

/** Returns the number of written bytes: 0 if the pipe is full, undefined if no process reads it any more. */
function writeSome(fd: number, bytes: Uint8Array): number | undefined {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const code = systemCode(error);
    if (code === "EAGAIN") return 0;
    if (code === "EPIPE") return undefined;
    throw error;
  }
}
