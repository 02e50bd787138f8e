// Where the output of a session's commands goes, and which part of it is whose. The loggers live on from
// command to command; they are exchanged when something that a command left running holds their pipes, so
// that what it prints later is nobody else's output, and before their files grow to the disk cap.
import { existsSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { isDiskFull } from "../engine/disk-space.ts";
import type { ExitRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import type { Logger } from "../engine/logger.ts";
import { readStat } from "../engine/process-table.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import type { StreamName } from "../shell/follow-output.ts";
import {
  capRemark,
  loggerGoneRemark,
  spoolFullRemark,
  truncatedRemark,
  unsureRemark,
} from "../shell/lost-output.ts";
import type { OutputPart } from "../shell/output-part.ts";
import { attempt } from "../support/attempt.ts";
import {
  SESSION_COPY_MAX_BYTES,
  SESSION_LOG_MAX_BYTES,
  SESSION_OWN_FILE_MIN_BYTES,
} from "../support/limits.ts";
import { copyPart } from "./copy-part.ts";
import { drain } from "./drain.ts";
import { closesOnExec, descriptorsOf, linkOf } from "./process-descriptors.ts";
import { RetiredFiles } from "./retired-files.ts";
import type { NewOutputs } from "./session-harness.ts";

export type BothStreams<T> = Readonly<Record<StreamName, T>>;

// What is printed is mostly stdout: looked at last, it has had the most time to arrive.
const STREAMS = ["stderr", "stdout"] as const;

export interface SessionOutputOptions {
  readonly host: Pick<Engine, "openLogger">;
  /** Where the files of exchanged loggers are put. */
  readonly dir: string;
  readonly capBytes: number;
  readonly loggers: BothStreams<Logger>;
  /** These end with the bash, and how they ended is in its exit record. In a sandbox others write to them later. */
  readonly endWithBash: boolean;
  /** The loggers have written for others before: where that ends, and the number of files there are. */
  readonly earlier?: { readonly to: BothStreams<number>; readonly files: number } | undefined;
}

export class SessionOutput {
  readonly #options: SessionOutputOptions;
  #loggers: BothStreams<Logger>;
  #next: Promise<BothStreams<Logger>> | undefined;
  #switching: BothStreams<Logger> | undefined;
  #from: BothStreams<number> = { stdout: 0, stderr: 0 };
  /** What each logger had ever written when the command began, as the kernel counts it, and when it ended. */
  #writtenFrom: BothStreams<number> = { stdout: 0, stderr: 0 };
  #writtenTo: BothStreams<number> = { stdout: 0, stderr: 0 };
  /** What the first loggers had written in all when bash ended. */
  #recorded: BothStreams<number> | undefined;
  /** Where the output of the command before ended. */
  #to: BothStreams<number> = { stdout: 0, stderr: 0 };
  #count = 0;
  readonly #retired = new RetiredFiles();
  /** No logger could be had for the command that runs: its output goes nowhere. */
  #isDiscarding = false;

  constructor(options: SessionOutputOptions) {
    this.#options = options;
    this.#loggers = options.loggers;
    const { earlier } = options;
    if (!earlier) return;
    this.#to = earlier.to;
    const { stdout, stderr } = this.#loggers;
    this.#writtenTo = { stdout: stdout.written ?? 0, stderr: stderr.written ?? 0 };
    this.#count = earlier.files;
    // What the bash before has left running may print to these yet.
    this.exchange();
  }

  get files(): BothStreams<string> {
    return { stdout: this.#loggers.stdout.file, stderr: this.#loggers.stderr.file };
  }

  /** Where the output of the command that runs began. */
  get from(): BothStreams<number> {
    return this.#from;
  }

  get isAnyLoggerGone(): boolean {
    return STREAMS.some((stream) => this.#loggers[stream].state === "gone");
  }

  /** What is known of the end of the loggers is in the exit record of the bash. */
  get isInExitRecord(): boolean {
    return this.#options.endWithBash && this.#loggers.stdout === this.#options.loggers.stdout;
  }

  /**
   * A command is about to be sent; the fifos it is to change to first, if any. Throws where it should change and there
   * is nothing to change to.
   */
  async begin(pid: number): Promise<NewOutputs | undefined> {
    this.#isDiscarding = false;
    // What bash says between two commands (of a job that was killed, say) is read with the next one.
    this.#from = this.#to;
    this.#writtenFrom = this.#writtenTo;
    this.#switching = (await this.#askedLoggers()) ?? this.#switching;
    const next = this.#switching;
    if (!next) return undefined;
    return {
      stdout: next.stdout.input ?? "",
      stderr: next.stderr.input ?? "",
      followers: this.#descriptorsOfOutput(pid),
    };
  }

  /** Where they could not be had, they are asked for once more: the disk may have been full then, and not be so now. */
  async #askedLoggers(): Promise<BothStreams<Logger> | undefined> {
    const asked = this.#next;
    this.#next = undefined;
    return await asked?.catch(() => this.#open());
  }

  /**
   * After `begin` has thrown: what the command is to change to where a logger is gone. Its pipe has no reader, so that
   * whatever opens it would wait for ever. The next command tries again.
   */
  instead(pid: number): NewOutputs | undefined {
    this.exchange();
    if (!this.isAnyLoggerGone) return undefined;
    this.#isDiscarding = true;
    return { stdout: "/dev/null", stderr: "/dev/null", followers: this.#descriptorsOfOutput(pid) };
  }

  /** Those that a command of this bash made of its output. What bash itself keeps for later closes on exec. */
  #descriptorsOfOutput(pid: number): NewOutputs["followers"] {
    const pipes = STREAMS.map((stream) => ({ stream, link: this.#loggers[stream].inputLink }));
    return descriptorsOf(pid).flatMap((name) => {
      const fd = Number(name);
      if (fd <= 2 || closesOnExec(pid, fd)) return [];
      const link = linkOf(pid, fd);
      const found = pipes.find((pipe) => pipe.link !== undefined && pipe.link === link);
      return found ? [{ fd, stream: found.stream }] : [];
    });
  }

  /** Where the output of the command that is about to be sent will be. */
  starting(): BothStreams<OutputPart> {
    const part = (stream: StreamName) => {
      const next = this.#switching?.[stream];
      const from = next ? 0 : this.#from[stream];
      return { path: (next ?? this.#loggers[stream]).file, from, to: from };
    };
    return { stdout: part("stdout"), stderr: part("stderr") };
  }

  /** After its report, or its end (without a pid): whether bash writes to the loggers it was told to. */
  settle(pid: number | undefined): boolean {
    const next = this.#switching;
    this.#switching = undefined;
    if (!next) return true;
    // While it reports, its own output is elsewhere: any of its descriptors will do.
    const open = pid === undefined ? [] : descriptorsOf(pid).map((fd) => linkOf(pid, fd));
    const done = pid === undefined || STREAMS.every((stream) => open.includes(next[stream].inputLink ?? ""));
    for (const stream of STREAMS) {
      next[stream].isTaken();
      if (done) this.#retire(this.#loggers[stream]);
      else next[stream].close();
    }
    if (!done) return false;
    this.#loggers = next;
    this.#from = { stdout: 0, stderr: 0 };
    this.#writtenFrom = { stdout: 0, stderr: 0 };
    this.#writtenTo = { stdout: 0, stderr: 0 };
    return true;
  }

  /** Whether another process holds one of the pipes the commands print to. */
  isHeldBy(pid: number): boolean {
    const pipes = STREAMS.map((stream) => this.#loggers[stream].inputLink);
    return descriptorsOf(pid).some((fd) => {
      const link = linkOf(pid, fd);
      return link !== undefined && pipes.includes(link);
    });
  }

  /** bash is over: its shim has counted what the first loggers wrote, which end now. */
  record({ stdoutBytes: stdout, stderrBytes: stderr }: ExitRecord): void {
    if (this.#options.endWithBash) this.#recorded = { stdout, stderr };
  }

  /** Until everything printed is on disk; what is to be said if that cannot be told. */
  async drain(): Promise<string[]> {
    const notes: string[] = [];
    const gone: StreamName[] = [];
    for (const stream of STREAMS) {
      const logger = this.#loggers[stream];
      if (logger.state === "idle") continue;
      const end = await drain(logger);
      if (end === "unsure") notes.push(unsureRemark(stream));
      if (end === "gone") gone.unshift(stream);
      // What it writes later is no output of other commands.
      if (end !== "idle") this.exchange();
    }
    if (gone.length > 0) notes.push(...this.#whyGone(gone));
    return notes;
  }

  /** As drain, when bash is over: that loggers have ended with it is as it should be. */
  async drainLast(): Promise<string[]> {
    const notes: string[] = [];
    const gone: StreamName[] = [];
    for (const stream of STREAMS) {
      const end = await drain(this.#loggers[stream]);
      if (end === "unsure") notes.push(unsureRemark(stream));
      if (end === "gone" && !this.isInExitRecord) gone.unshift(stream);
    }
    if (gone.length > 0) notes.push(...this.#whyGone(gone));
    return notes;
  }

  /** What the command has printed; `notes` hears of what is gone. */
  parts(notes: string[]): BothStreams<OutputPart> {
    this.#to = { stdout: this.#end("stdout", notes), stderr: this.#end("stderr", notes) };
    return { stdout: this.#part("stdout"), stderr: this.#part("stderr") };
  }

  /**
   * Where the output of the command ends. A process can truncate the file while the command runs, or before that: then
   * it holds less than was written to it, and what is left of this command begins elsewhere.
   */
  #end(stream: StreamName, notes: string[]): number {
    const { size, file } = this.#loggers[stream];
    const from = this.#from[stream];
    // Nothing was printed: the kernel need not be asked.
    if (size === from) return size;
    const written = this.isInExitRecord
      ? (this.#recorded?.[stream] ?? this.#loggers[stream].written)
      : this.#loggers[stream].written;
    const printed = written === undefined ? undefined : written - this.#writtenFrom[stream];
    if (written !== undefined) this.#writtenTo = { ...this.#writtenTo, [stream]: written };
    if (size < from || size - from < (printed ?? 0)) {
      this.#from = { ...this.#from, [stream]: Math.max(0, size - (printed ?? size)) };
      notes.push(truncatedRemark(file, printed === undefined ? undefined : Math.max(0, printed - size)));
    }
    return size;
  }

  /**
   * Puts files back that were removed or replaced, and has other loggers write from the next command on; what was gone.
   * Throws where that cannot be done.
   */
  restoreFiles(): "directory" | "files" | undefined {
    const gone = STREAMS.filter((stream) => !this.#loggers[stream].hasFile);
    if (gone.length === 0) return undefined;
    const hasDirectory = existsSync(this.#options.dir);
    this.exchange();
    for (const stream of gone) this.#loggers[stream].restoreFile();
    return hasDirectory ? "files" : "directory";
  }

  /** A file that holds this part and nothing else, unless it is very long, or the disk is full. */
  fileOf(part: OutputPart): string {
    const isShared = Object.values(this.files).includes(part.path) && this.#next === undefined;
    const isOwn = part.from === 0 && !isShared;
    const path = isOwn || part.to - part.from > SESSION_COPY_MAX_BYTES ? part.path : this.#copy(part).path;
    this.#retired.name(path);
    return path;
  }

  /** Both parts where nothing else is, or will be. */
  alone(parts: BothStreams<OutputPart>): {
    readonly files: BothStreams<string>;
    readonly from: BothStreams<number>;
  } {
    const [stdout, stderr] = [this.fileOf(parts.stdout), this.fileOf(parts.stderr)];
    return {
      files: { stdout, stderr },
      from: {
        stdout: stdout === parts.stdout.path ? parts.stdout.from : 0,
        stderr: stderr === parts.stderr.path ? parts.stderr.from : 0,
      },
    };
  }

  #copy(part: OutputPart): OutputPart {
    const path = join(this.#options.dir, SESSION_NAMES.copy(part.path, ++this.#count));
    try {
      copyPart(part, path);
    } catch {
      // No space left, say. The output is where it was, among that of other commands.
      attempt(() => unlinkSync(path));
      return part;
    }
    this.#retired.add({ path });
    return { path, from: 0, to: part.to - part.from };
  }

  /** Another pair of loggers before the next command. */
  exchange(): void {
    if (this.#next !== undefined) return;
    this.#next = this.#open();
    // The next command that is sent hears of it.
    this.#next.catch(() => {});
  }

  #open(): Promise<BothStreams<Logger>> {
    const { host, dir, capBytes } = this.#options;
    const number = ++this.#count;
    return openBoth(
      host.openLogger(join(dir, SESSION_NAMES.stdout(number)), capBytes),
      host.openLogger(join(dir, SESSION_NAMES.stderr(number)), capBytes),
    );
  }

  /** Loggers that were asked for are waited for: left alone they would wait for a line of ours. */
  async close(): Promise<void> {
    const asked = this.#next;
    this.#next = undefined;
    const next = await asked?.catch(() => undefined);
    for (const stream of STREAMS) {
      this.#loggers[stream].close();
      this.#switching?.[stream].close();
      next?.[stream].close();
    }
  }

  #part(stream: StreamName): OutputPart {
    const logger = this.#loggers[stream];
    const part = { path: logger.file, from: this.#from[stream], to: this.#to[stream] };
    const { capBytes } = this.#options;
    if (part.to > Math.min(SESSION_LOG_MAX_BYTES, capBytes / 8)) this.exchange();
    // A reader that is sent to the file of a long output must find that command's output there, and no other.
    const bytes = part.to - part.from;
    if (bytes < SESSION_OWN_FILE_MIN_BYTES) return part;
    if (part.from === 0) {
      this.exchange();
      return part;
    }
    return bytes > SESSION_COPY_MAX_BYTES ? part : this.#copy(part);
  }

  /** Of loggers that ended while something could still print to them. */
  #whyGone(gone: readonly StreamName[]): string[] {
    // Said when the command was sent.
    if (this.#isDiscarding) return [];
    const { capBytes, dir } = this.#options;
    const atCap = gone.filter((stream) => this.#isAtCap(stream));
    const others = gone.filter((stream) => !atCap.includes(stream));
    const capped = atCap.map((stream) => capRemark(capBytes, stream));
    if (others.length === 0) return capped;
    return [...capped, isDiskFull(dir) ? spoolFullRemark(dir) : loggerGoneRemark(others)];
  }

  #isAtCap(stream: StreamName): boolean {
    return this.#loggers[stream].size >= Math.floor(this.#options.capBytes / 1024) * 1024;
  }

  #retire(logger: Logger): void {
    logger.close();
    const startTime = readStat(logger.pid)?.startTime ?? "";
    this.#retired.add({ path: logger.file, pid: logger.pid, startTime });
  }
}

/** Both, or none: the one that was opened is closed where the other cannot be. */
async function openBoth(stdout: Promise<Logger>, stderr: Promise<Logger>): Promise<BothStreams<Logger>> {
  const [out, err] = await Promise.allSettled([stdout, stderr]);
  if (out.status === "fulfilled" && err.status === "fulfilled")
    return { stdout: out.value, stderr: err.value };
  for (const one of [out, err]) if (one.status === "fulfilled") one.value.close();
  throw [out, err].find((one) => one.status === "rejected")?.reason;
}
