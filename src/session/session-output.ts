// The output of a session's commands: which part of which file belongs to the running command. Owns the loggers and
// these positions. The loggers serve many commands. The session replaces them before their files reach the disk cap. It
// also replaces them if a leftover process has their pipes open: otherwise the output of that process would mix with
// the output of later commands.
import { existsSync } from "node:fs";
import { isDiskFull } from "../engine/disk-space.ts";
import type { ExitRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import type { StreamName } from "../shell/follow-output.ts";
import { capRemark, loggerGoneRemark, spoolFullRemark, truncatedRemark } from "../shell/lost-output.ts";
import type { OutputPart } from "../shell/output-part.ts";
import {
  SESSION_COPY_MAX_BYTES,
  SESSION_LOG_MAX_BYTES,
  SESSION_LOG_MAX_SHARE,
  SESSION_OWN_FILE_MIN_BYTES,
} from "../support/limits.ts";
import type { Logger } from "./logger.ts";
import { type BothStreams, LoggerPair, STREAMS } from "./logger-pair.ts";
import { OutputFiles } from "./output-files.ts";
import type { NewOutputs } from "./session-harness.ts";

export interface SessionOutputOptions {
  readonly engine: Pick<Engine, "openLogger">;
  /** The directory of the output files. */
  readonly dir: string;
  readonly capBytes: number;
  readonly loggers: BothStreams<Logger>;
  /**
   * Whether the first loggers end when bash does. The exit record of bash then says how they ended. False in a sandbox,
   * because the next bash prints to the same loggers.
   */
  readonly endWithBash: boolean;
  /**
   * Set if earlier bashes have printed to these loggers: where the output of those bashes ends, and the highest file
   * number that they may have used.
   */
  readonly earlier?: { readonly to: BothStreams<number>; readonly lastFileNumber: number } | undefined;
}

const START: BothStreams<number> = { stdout: 0, stderr: 0 };

export class SessionOutput {
  readonly #options: SessionOutputOptions;
  readonly #files: OutputFiles;
  #loggers: LoggerPair;
  /** Loggers that are being started for the next command. */
  #next: Promise<LoggerPair> | undefined;
  /** The loggers that the running command switches to when it starts. */
  #switching: LoggerPair | undefined;
  /** Where the output of the command begins. */
  #from = START;
  /** Where the output of the previous command ends. */
  #to = START;
  /** Bytes that each logger has ever written, counted by the kernel: when the command began, and when it ended. */
  #writtenFrom = START;
  #writtenTo = START;
  /** Bytes that the first loggers had written when bash ended. */
  #recorded: BothStreams<number> | undefined;
  /** Whether the output of the running command goes to /dev/null, because no logger could be started. */
  #isDiscarding = false;
  /** The sizes that restoreFiles() found after the command. */
  #sizes: Partial<BothStreams<number | undefined>> = {};

  constructor(options: SessionOutputOptions) {
    const { earlier } = options;
    this.#options = options;
    this.#loggers = new LoggerPair(options.loggers);
    this.#files = new OutputFiles(options.dir, earlier?.lastFileNumber ?? 0);
    if (!earlier) return;
    this.#to = earlier.to;
    const { stdout, stderr } = this.#loggers;
    this.#writtenTo = { stdout: stdout.written ?? 0, stderr: stderr.written ?? 0 };
    // Processes that the previous bash left running may still print to these loggers.
    this.exchange();
  }

  get files(): BothStreams<string> {
    return this.#loggers.files;
  }

  /** Where the output of the running command begins. */
  get from(): BothStreams<number> {
    return this.#from;
  }

  get isAnyLoggerGone(): boolean {
    return this.#loggers.isAnyGone;
  }

  /** Whether the exit record of bash says how the current loggers ended. */
  get isInExitRecord(): boolean {
    return this.#options.endWithBash && this.#loggers.stdout === this.#options.loggers.stdout;
  }

  /**
   * Call this before a command is sent. Returns the fifos that the command has to switch to, if any. Throws if the
   * command has to switch but no logger could be started. In that case, call discard().
   */
  begin(pid: number): Promise<NewOutputs | undefined> | undefined {
    this.#isDiscarding = false;
    this.#sizes = {};
    // Text that bash printed since the previous command, such as a message about a killed job, belongs to this command.
    this.#from = this.#to;
    this.#writtenFrom = this.#writtenTo;
    return this.#next || this.#switching ? this.#switch(pid) : undefined;
  }

  async #switch(pid: number): Promise<NewOutputs | undefined> {
    const next = this.#next;
    this.#next = undefined;
    // If the loggers could not be started, try again: the disk may have been full at the first attempt.
    if (next !== undefined) this.#switching = await next.catch(() => this.#open());
    const loggers = this.#switching;
    return loggers && { ...loggers.inputs, followers: this.#loggers.followersIn(pid) };
  }

  /**
   * Redirects the command to /dev/null if a logger has ended: the pipe of that logger has no reader, so a process that
   * opens the pipe would wait forever. The next command tries again. Returns undefined if both loggers still run.
   */
  discard(pid: number): NewOutputs | undefined {
    this.exchange();
    if (!this.isAnyLoggerGone) return undefined;
    this.#isDiscarding = true;
    return { stdout: "/dev/null", stderr: "/dev/null", followers: this.#loggers.followersIn(pid) };
  }

  /** Where the output of the command that is about to be sent will begin. */
  get starting(): BothStreams<OutputPart> {
    const part = (stream: StreamName) => {
      const next = this.#switching?.[stream];
      const from = next ? 0 : this.#from[stream];
      return { path: (next ?? this.#loggers[stream]).file, from, to: from };
    };
    return { stdout: part("stdout"), stderr: part("stderr") };
  }

  /**
   * Call this after the command's report, or without a PID after the end of bash. Returns whether bash has switched to
   * the new loggers.
   */
  settle(pid: number | undefined): boolean {
    const next = this.#switching;
    this.#switching = undefined;
    if (!next) return true;
    const isDone = pid === undefined || next.areOpenIn(pid);
    next.unlinkFifos();
    if (!isDone) {
      next.close();
      return false;
    }
    for (const stream of STREAMS) this.#files.retire(this.#loggers[stream]);
    this.#loggers = next;
    this.#from = START;
    this.#writtenFrom = START;
    this.#writtenTo = START;
    return true;
  }

  /** Whether a process holds one of the pipes that commands print to. */
  isHeldBy(pid: number): boolean {
    return this.#loggers.isHeldBy(pid);
  }

  /** Call this when bash has ended. Its shim has counted the bytes that the first loggers wrote. */
  record({ stdoutBytes: stdout, stderrBytes: stderr }: ExitRecord): void {
    if (this.#options.endWithBash) this.#recorded = { stdout, stderr };
  }

  /** Waits until all output is on disk. Returns remarks if that is not certain. */
  async drain(): Promise<string[]> {
    const { remarks, gone } = await this.#loggers.drain();
    // Later writes of these loggers must not count as output of other commands.
    if (remarks.length > 0 || gone.length > 0) this.exchange();
    return [...remarks, ...this.#remarksOn(gone)];
  }

  /** Like drain(), but for the time after the end of bash. Returns no remarks on loggers that end with bash. */
  async drainLast(): Promise<string[]> {
    const { remarks, gone } = await this.#loggers.drain();
    return [...remarks, ...this.#remarksOn(this.isInExitRecord ? [] : gone)];
  }

  /** The output of the command. Adds a note if some of it is missing. */
  parts(notes: string[]): BothStreams<OutputPart> {
    this.#to = { stdout: this.#end("stdout", notes), stderr: this.#end("stderr", notes) };
    return { stdout: this.#part("stdout"), stderr: this.#part("stderr") };
  }

  /**
   * Puts removed or replaced files back. The next command gets other loggers. Returns what was missing. Throws if that
   * cannot be put back.
   */
  restoreFiles(): "directory" | "files" | undefined {
    const [stdout, stderr] = [this.#loggers.stdout.checkFile(), this.#loggers.stderr.checkFile()];
    this.#sizes = { stdout: stdout.size, stderr: stderr.size };
    if (stdout.isThere && stderr.isThere) return undefined;
    const gone = STREAMS.filter((stream) => !(stream === "stdout" ? stdout : stderr).isThere);
    const hasDirectory = existsSync(this.#options.dir);
    this.exchange();
    for (const stream of gone) this.#loggers[stream].restoreFile();
    return hasDirectory ? "files" : "directory";
  }

  /** A file that contains only this part, unless the part is very long or the disk is full. */
  fileOf(part: OutputPart): string {
    const isShared = Object.values(this.files).includes(part.path) && this.#next === undefined;
    const isOwn = part.from === 0 && !isShared;
    const isLong = part.to - part.from > SESSION_COPY_MAX_BYTES;
    const path = isOwn || isLong ? part.path : this.#files.copy(part).path;
    this.#files.name(path);
    return path;
  }

  /** For each part, a file that no later command prints to (for exceptions, see fileOf), and where the part begins. */
  ownFiles(parts: BothStreams<OutputPart>): {
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

  /** Starts new loggers for the next command. */
  exchange(): void {
    if (this.#next !== undefined) return;
    this.#next = this.#open();
    // begin() handles a failure.
    this.#next.catch(() => {});
  }

  /** Waits for loggers that are still starting: otherwise they would wait for their first line forever. */
  async close(): Promise<void> {
    const starting = this.#next;
    this.#next = undefined;
    const next = await starting?.catch(() => undefined);
    for (const loggers of [this.#loggers, this.#switching, next]) loggers?.close();
  }

  #open(): Promise<LoggerPair> {
    const { engine, dir, capBytes } = this.#options;
    return LoggerPair.open(engine, { dir, number: this.#files.nextNumber(), capBytes });
  }

  /**
   * Where the output of the command ends. If a process truncated the file, the file is shorter than the output, and the
   * rest of this command's output begins earlier.
   */
  #end(stream: StreamName, notes: string[]): number {
    const logger = this.#loggers[stream];
    const { file } = logger;
    const size = this.#sizes[stream] ?? logger.size;
    const from = this.#from[stream];
    // The command printed nothing: return early to save a system call.
    if (size === from) return size;
    const recorded = this.isInExitRecord ? this.#recorded?.[stream] : undefined;
    const written = recorded ?? logger.written;
    const printed = written === undefined ? undefined : written - this.#writtenFrom[stream];
    if (written !== undefined) this.#writtenTo = { ...this.#writtenTo, [stream]: written };
    if (size < from || size - from < (printed ?? 0)) {
      this.#from = { ...this.#from, [stream]: Math.max(0, size - (printed ?? size)) };
      notes.push(truncatedRemark(file, printed === undefined ? undefined : Math.max(0, printed - size)));
    }
    return size;
  }

  #part(stream: StreamName): OutputPart {
    const part = { path: this.#loggers[stream].file, from: this.#from[stream], to: this.#to[stream] };
    if (part.to > Math.min(SESSION_LOG_MAX_BYTES, this.#options.capBytes * SESSION_LOG_MAX_SHARE))
      this.exchange();
    // A result with long output names the file. So the file must not contain the output of other commands.
    const bytes = part.to - part.from;
    if (bytes < SESSION_OWN_FILE_MIN_BYTES) return part;
    if (part.from === 0) {
      this.exchange();
      return part;
    }
    return bytes > SESSION_COPY_MAX_BYTES ? part : this.#files.copy(part);
  }

  /** Remarks on why these loggers ended before the command. */
  #remarksOn(gone: readonly StreamName[]): string[] {
    // begin() threw, and a note about that already exists (command-plan.ts).
    if (this.#isDiscarding || gone.length === 0) return [];
    const { capBytes, dir } = this.#options;
    const capped = gone.filter((stream) => this.#loggers[stream].size >= Math.floor(capBytes / 1024) * 1024);
    const others = gone.filter((stream) => !capped.includes(stream));
    const remarks = capped.map((stream) => capRemark(capBytes, stream));
    if (others.length === 0) return remarks;
    return [...remarks, isDiskFull(dir) ? spoolFullRemark(dir) : loggerGoneRemark(others)];
  }
}
