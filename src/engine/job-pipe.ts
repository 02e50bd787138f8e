// The host's end of a slot's pipe: it carries the job, and then the command's stdin.
import { closeSync, writeSync } from "node:fs";
import { systemCode } from "../support/system-error.ts";
import { encodeJob, type Job } from "./job.ts";
import { JOB_FD, openPipe } from "./process-pipe.ts";
import type { ReadySlot } from "./protocol.ts";

export class JobPipe {
  #fd: number | undefined;

  /** Mode "both" lets the host read back bytes that bash has not read. */
  constructor({ commandPid, commandStart }: ReadySlot, mode: "write" | "both" = "write") {
    this.#fd = openPipe({ pid: commandPid, startTime: commandStart }, JOB_FD, mode);
  }

  /** False if the slot has died, or the job does not fit into the pipe. */
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

  /** Hands the descriptor over: the caller closes it. */
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
