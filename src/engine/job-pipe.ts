// The pipe of a slot, from the host's side: its job goes through it, and what the command reads as its stdin after that.
import { closeSync, writeSync } from "node:fs";
import { systemCode } from "../support/system-error.ts";
import { encodeJob, type Job } from "./job.ts";
import { JOB_FD, openPipe } from "./process-pipe.ts";
import type { ReadySlot } from "./protocol.ts";

export class JobPipe {
  #fd: number | undefined;

  /** `mode` "both" is for a host that takes back what was not read. */
  constructor({ commandPid, commandStart }: ReadySlot, mode: "write" | "both" = "write") {
    this.#fd = openPipe({ pid: commandPid, startTime: commandStart }, JOB_FD, mode);
  }

  /** Hands a waiting slot its job; false where nobody waits for one any more, or not all of it fits. */
  send(job: Job): boolean {
    if (this.#fd === undefined) return false;
    const message = encodeJob(job);
    try {
      return writeSync(this.#fd, message) === message.length;
    } catch (error) {
      if (["EPIPE", "EAGAIN"].includes(systemCode(error) ?? "")) return false;
      throw error;
    }
  }

  /** Who takes it closes it. */
  take(): number | undefined {
    const fd = this.#fd;
    this.#fd = undefined;
    return fd;
  }

  close(): void {
    const fd = this.take();
    if (fd !== undefined) closeSync(fd);
  }
}
