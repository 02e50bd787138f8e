// The two loggers that a session's commands print to: one for stdout, one for stderr. Finds out which processes hold
// their pipes, and waits until both have written everything to disk.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../engine/engine.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import type { StreamName } from "../shell/follow-output.ts";
import { unsureRemark } from "../shell/lost-output.ts";
import { attempt } from "../support/attempt.ts";
import { drain, Logger } from "./logger.ts";
import type { NewOutputs } from "./session-harness.ts";

export type BothStreams<T> = Readonly<Record<StreamName, T>>;

// Commands print mostly to stdout. Check its logger last, so that it has the most time to write.
export const STREAMS = ["stderr", "stdout"] as const;

export class LoggerPair {
  readonly stdout: Logger;
  readonly stderr: Logger;

  constructor({ stdout, stderr }: BothStreams<Logger>) {
    this.stdout = stdout;
    this.stderr = stderr;
  }

  /** Starts both loggers. If one cannot be started, closes the other and throws. */
  static async open(
    engine: Pick<Engine, "openLogger">,
    options: { readonly dir: string; readonly number: number; readonly capBytes: number },
  ): Promise<LoggerPair> {
    const open = async (name: string) => {
      const file = join(options.dir, name);
      const { pid, fifo } = await engine.openLogger(file, options.capBytes);
      return new Logger(pid, file, { fifo });
    };
    const [out, err] = await Promise.allSettled([
      open(SESSION_NAMES.stdout(options.number)),
      open(SESSION_NAMES.stderr(options.number)),
    ]);
    if (out.status === "fulfilled" && err.status === "fulfilled")
      return new LoggerPair({ stdout: out.value, stderr: err.value });
    for (const one of [out, err]) if (one.status === "fulfilled") one.value.close();
    throw [out, err].find((one) => one.status === "rejected")?.reason;
  }

  get files(): BothStreams<string> {
    return { stdout: this.stdout.file, stderr: this.stderr.file };
  }

  get isAnyGone(): boolean {
    return STREAMS.some((stream) => this[stream].state === "gone");
  }

  /** The paths at which bash opens the loggers' pipes. */
  get inputs(): BothStreams<string> {
    return { stdout: this.stdout.input ?? "", stderr: this.stderr.input ?? "" };
  }

  /**
   * The descriptors in bash that a command duplicated from its output. Descriptors of bash itself do not count: they
   * close on exec.
   */
  followersIn(pid: number): NewOutputs["followers"] {
    const pipes = STREAMS.map((stream) => ({ stream, link: this[stream].inputLink }));
    return descriptorsOf(pid).flatMap((name) => {
      const fd = Number(name);
      if (fd <= 2 || closesOnExec(pid, fd)) return [];
      const link = linkOf(pid, fd);
      const found = pipes.find((pipe) => pipe.link !== undefined && pipe.link === link);
      return found ? [{ fd, stream: found.stream }] : [];
    });
  }

  /**
   * Whether bash has both pipes open, at any descriptor: while bash writes its report, its stdout is the report pipe.
   * Right after the report, bash moves both pipes from descriptors of 10 or more back to 1 and 2. So the scan reads the
   * highest descriptor first. In the other order, it could miss a pipe that moves to a descriptor already scanned.
   */
  areOpenIn(pid: number): boolean {
    const highestFirst = descriptorsOf(pid).sort((a, b) => Number(b) - Number(a));
    const open = highestFirst.map((fd) => linkOf(pid, fd));
    return STREAMS.every((stream) => open.includes(this[stream].inputLink ?? ""));
  }

  /** Whether a process holds one of the pipes. */
  isHeldBy(pid: number): boolean {
    const pipes = STREAMS.map((stream) => this[stream].inputLink);
    return descriptorsOf(pid).some((fd) => {
      const link = linkOf(pid, fd);
      return link !== undefined && pipes.includes(link);
    });
  }

  /**
   * Waits until both loggers have written everything to disk. Returns which loggers have ended, and remarks about
   * loggers that may not have finished.
   */
  async drain(): Promise<{ readonly remarks: string[]; readonly gone: StreamName[] }> {
    const remarks: string[] = [];
    const gone: StreamName[] = [];
    for (const stream of STREAMS) {
      const end = this[stream].state === "idle" ? "idle" : await drain(this[stream]);
      if (end === "unsure") remarks.push(unsureRemark(stream));
      if (end === "gone") gone.unshift(stream);
    }
    return { remarks, gone };
  }

  /** Call this when bash has both pipes open, because the fifos then no longer need a name. */
  unlinkFifos(): void {
    for (const stream of STREAMS) this[stream].unlinkFifo();
  }

  close(): void {
    for (const stream of STREAMS) this[stream].close();
  }
}

/** Empty for an ended process. */
export function descriptorsOf(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
}

/** The target of the descriptor's link, which is equal for two descriptors of one pipe. */
function linkOf(pid: number, fd: number | string): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`));
}

function closesOnExec(pid: number, fd: number): boolean {
  const flags = attempt(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1"));
  return (Number.parseInt(/^flags:\s+(\d+)$/m.exec(flags ?? "")?.[1] ?? "0", 8) & 0o2000000) !== 0;
}
