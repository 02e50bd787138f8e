// One tracked run of a command: what it is, what it has printed, how it ended, and how to end it.
// Starting and listing shells is the manager's; how a shell lives and ends is in shell-life.ts.

import type { Confinement } from "../engine/confinement.ts";
import { Cursor, sizeOf } from "../engine/cursor.ts";
import type { Cause, ExitRecord } from "../engine/end-record.ts";
import type { Host, KillHost, ProcessRef, StartedShell } from "../engine/host.ts";
import { writtenBy } from "../engine/logger.ts";
import { readStat } from "../engine/process-table.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { INTERRUPT_GRACE_MS, KILL_GRACE_MS } from "../support/limits.ts";
import {
  type Followed,
  followBytes,
  followOutput,
  type OutputBytes,
  type OutputPiece,
  type StreamName,
} from "./follow-output.ts";
import { interruptCommand } from "./interrupt.ts";
import { endShells, type KillTarget, signalShells } from "./kill.ts";
import type { KillReport } from "./kill-report.ts";
import { codeOf, describeOutcome, type Outcome } from "./outcome.ts";
import type { OutputPart } from "./output-part.ts";
import { joinStreams, readWhole, takeText } from "./output-text.ts";
import { isCounted, remarksOn, truncationRemarks } from "./remarks.ts";
import { ShellLife } from "./shell-life.ts";
import { type ShellStatus, statusOf } from "./shell-status.ts";
import { lookFor, type WaitCondition, type WaitResult } from "./wait-for.ts";

/** What a shell needs of its host. */
export type ShellHost = KillHost & Pick<Host, "hold" | "leftoversOf">;

export interface ShellProcessOptions {
  readonly host: ShellHost;
  readonly started: StartedShell;
  readonly command: string;
  /** Between TERM and KILL. @default 2000 */
  readonly graceMs?: number;
  /** How long ago it began. @default 0, just now */
  readonly ageMs?: number;
  /** Called once, when it has ended. */
  readonly onEnd: (shell: ShellProcess) => void;
  /** Called with what came of every kill. */
  readonly onKill?: (shell: ShellProcess, by: string, report: KillReport) => void;
}

export class ShellProcess {
  readonly id: string;
  readonly command: string;
  readonly workingDir: string;
  readonly scope: string;
  /** Milliseconds since the epoch, as the other times of day here. */
  readonly createdAt: number;
  readonly startedAt: number;
  readonly started: StartedShell;
  readonly #host: ShellHost;
  readonly #graceMs: number;
  readonly #life: ShellLife;
  readonly #onKill: ShellProcessOptions["onKill"];
  readonly #from: Readonly<Record<StreamName, number>>;
  readonly #readers = new Map<string, Readonly<Record<StreamName, Cursor>>>();
  readonly #remarks: string[] = [];

  constructor(options: ShellProcessOptions) {
    const { started } = options;
    this.started = started;
    this.id = started.id;
    this.command = options.command;
    this.workingDir = started.meta.workingDir;
    this.scope = started.meta.scope;
    this.createdAt = started.meta.createdAt;
    this.startedAt = started.attached ? started.meta.createdAt : wallMs();
    this.#host = options.host;
    this.#graceMs = options.graceMs ?? KILL_GRACE_MS;
    const { output } = started.meta;
    this.#from = { stdout: output?.stdout.from ?? 0, stderr: output?.stderr.from ?? 0 };
    this.#onKill = options.onKill;
    this.#life = new ShellLife(options.host, started, () => options.onEnd(this), options.ageMs);
  }

  // --- what it is -------------------------------------------------------------------------------

  get status(): ShellStatus {
    return statusOf(this.outcome);
  }

  /** undefined while it runs. */
  get outcome(): Outcome | undefined {
    return this.#life.outcome;
  }

  get isRunning(): boolean {
    return this.outcome === undefined;
  }

  /** null while it runs, and where no code is known. */
  get exitCode(): number | null {
    const outcome = this.outcome;
    return outcome ? codeOf(outcome) : null;
  }

  /** The signal that ended it, as far as the exit code tells. */
  get signal(): string | null {
    const outcome = this.outcome;
    return outcome?.kind === "signaled" ? outcome.signal : null;
  }

  get completedAt(): number | null {
    return this.#life.completedAt;
  }

  /** How long ago it ended, whatever the clock was set to since; null while it runs. */
  get endedAgoMs(): number | null {
    return this.#life.endedAgoMs;
  }

  get durationMs(): number {
    return this.#life.durationMs;
  }

  /** Outlives the host that started it. */
  get durable(): boolean {
    return this.started.meta.durable;
  }

  /** What it may touch, and what of that is not enforced; undefined where nothing was asked for. */
  get confinement(): Confinement | undefined {
    return this.started.meta.confinement;
  }

  /** What is worth saying about the way it began and ended, besides its code. */
  get remarks(): readonly string[] {
    const { record } = this.#life;
    const seen = new Set(STREAMS.filter((stream) => this.#isSeenTruncated(stream)));
    const truncations = truncationRemarks(record, this.started, seen);
    return [...this.#remarks, ...truncations, ...(record ? remarksOn(record, this.started) : [])];
  }

  /** Those that are about its beginning alone. */
  get startRemarks(): readonly string[] {
    return [...this.#remarks];
  }

  #isSeenTruncated(stream: StreamName): boolean {
    return [...this.#readers.values()].some((cursors) => cursors[stream].wasTruncated);
  }

  /** Adds remarks that this process alone knows. */
  remark(...remarks: readonly string[]): void {
    this.#remarks.push(...remarks);
  }

  /** Where the raw output is. */
  get outputFiles(): Readonly<Record<StreamName, string>> {
    return { stdout: this.started.files.stdout, stderr: this.started.files.stderr };
  }

  // --- what it has printed ------------------------------------------------------------------------

  /** The bytes [from, to) of its files that are its output so far. */
  get outputParts(): Readonly<Record<StreamName, OutputPart>> {
    const part = (stream: StreamName) => {
      const path = this.outputFiles[stream];
      const to = sizeOf(path);
      return { path, from: this.#beginning(stream, to), to };
    };
    return { stdout: part("stdout"), stderr: part("stderr") };
  }

  /** A file that is shorter than where its output began was truncated: all of it is new. */
  #beginning(stream: StreamName, size: number): number {
    return size < this.#from[stream] ? 0 : this.#from[stream];
  }

  get lastReadStdout(): number {
    return this.cursors().stdout.position;
  }

  get lastReadStderr(): number {
    return this.cursors().stderr.position;
  }

  /** A reader's places in the output. Readers do not disturb each other. */
  cursors(reader = ""): Readonly<Record<StreamName, Cursor>> {
    let cursors = this.#readers.get(reader);
    if (!cursors) {
      cursors = {
        stdout: new Cursor(this.started.files.stdout, this.#from.stdout, () => this.#written("stdout")),
        stderr: new Cursor(this.started.files.stderr, this.#from.stderr, () => this.#written("stderr")),
      };
      this.#readers.set(reader, cursors);
    }
    return cursors;
  }

  /** Bytes that were ever written to its file, also those that a process has cut off; undefined where that is not known. */
  #written(stream: StreamName): number | undefined {
    const { loggers, meta } = this.started;
    if (!isCounted(meta)) return undefined;
    const { record } = this.#life;
    if (record) return stream === "stdout" ? record.stdoutBytes : record.stderrBytes;
    return loggers && writtenBy(loggers[stream]);
  }

  /**
   * What is new since this reader's last call, stdout first. A very large backlog comes in several
   * calls. Without stderr, its cursor stays where it is.
   */
  getNewOutput({ includeStderr = true, reader = "" } = {}): string {
    const { stdout, stderr } = this.cursors(reader);
    const ended = !this.isRunning;
    return joinStreams(takeText(stdout, ended), includeStderr ? takeText(stderr, ended) : "");
  }

  /** Everything so far; moves no cursor. */
  getAllOutput(): string {
    const { stdout, stderr } = this.outputParts;
    return joinStreams(readWhole(stdout.path, stdout.from), readWhole(stderr.path, stderr.from));
  }

  /** Live: all that was printed so far, then what comes, until the shell ends. */
  output(): AsyncGenerator<OutputPiece, void, void> {
    return this.#held(followOutput(this.started.files, this.#followed()));
  }

  /** The same, byte by byte as it was printed, from these places on and until the signal says to stop. */
  outputBytes({
    from = this.#from,
    signal,
  }: Pick<Followed, "from" | "signal"> = {}): AsyncGenerator<OutputBytes, void, void> {
    return this.#held(followBytes(this.started.files, { ...this.#followed(), from, signal }));
  }

  /** The program stays alive while a reader waits for the next piece, not for one that has stopped asking. */
  async *#held<T>(pieces: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
    const next = async () => {
      const release = this.#host.hold();
      return await pieces.next().finally(release);
    };
    try {
      for (let piece = await next(); !piece.done; piece = await next()) yield piece.value;
    } finally {
      await pieces.return();
    }
  }

  // --- waiting ------------------------------------------------------------------------------------------

  /** The exit code, null where none is known. An expired wait throws and ends nothing. */
  async wait(timeoutMs?: number): Promise<number | null> {
    await this.waitFor({ exit: true }, timeoutMs);
    return this.exitCode;
  }

  /** The matching line, or the end. Throws when the time is over, or the shell ends before the line comes. */
  async waitFor(condition: WaitCondition, timeoutMs = condition.timeoutMs): Promise<WaitResult> {
    const result = await this.look(condition, timeoutMs);
    if (result.kind === "expired") {
      const what = condition.pattern ? "the line" : "the end";
      throw new NacreError(
        "timed_out",
        `Waited ${timeoutMs}ms for ${what} of ${this.id}; it is still running.`,
      );
    }
    if (result.kind === "ended" && condition.pattern) {
      throw new NacreError(
        "exit_nonzero",
        `${this.id} ${describeOutcome(result.outcome)} before the line came.`,
      );
    }
    return result;
  }

  /** As waitFor, but every ending is a value. */
  async look(condition: WaitCondition, timeoutMs?: number): Promise<WaitResult> {
    const release = this.#host.hold();
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : monotonicMs() + timeoutMs;
    try {
      return await lookFor(
        { from: this.#from, ...condition },
        { files: this.started.files, life: this.#life, deadline },
      );
    } finally {
      release();
    }
  }

  // --- ending -----------------------------------------------------------------------------------------

  /** Ends it with everything it started: TERM, a grace, then KILL. Leftovers of an ended shell, too. */
  async kill({
    by = "kill()",
    graceMs = this.#graceMs,
  }: {
    by?: string;
    graceMs?: number;
  } = {}): Promise<KillReport> {
    return await this.end({ kind: "killed", detail: by }, graceMs);
  }

  /** Asks everything it started to end (TERM), and leaves it at that. */
  async terminate({ by = "terminate()" }: { by?: string } = {}): Promise<KillReport> {
    return await this.#signalAll("SIGTERM", { kind: "terminated", detail: by });
  }

  /** Sends one signal to everything it started. */
  async sendSignal(signal: NodeJS.Signals): Promise<KillReport> {
    return await this.#signalAll(signal, undefined);
  }

  /**
   * As Ctrl-C: INT for everything it started at once, so that traps run; what has not ended after the grace period is
   * killed. Resolves when nothing of it runs any more.
   */
  async interrupt({
    by = "interrupt()",
    graceMs = INTERRUPT_GRACE_MS,
  }: {
    by?: string;
    graceMs?: number;
  } = {}): Promise<void> {
    const release = this.#host.hold();
    try {
      const hasEnded = () => !this.isRunning;
      const plan = { host: this.#host, shell: this.started, graceMs, hasEnded };
      if ((await interruptCommand(plan)) === "must be killed")
        await this.end({ kind: "killed", detail: by }, 0);
    } finally {
      release();
    }
  }

  /** Ends it for a reason, which is on disk before the first signal. */
  async end(cause: Cause, graceMs = this.#graceMs): Promise<KillReport> {
    const release = this.#host.hold();
    try {
      const target = this.toKill(cause);
      const reports = await endShells(this.#host, [target], graceMs);
      const report = reports.get(this.started) ?? { signalled: [], survivors: [] };
      this.#onKill?.(this, cause.detail || cause.kind, report);
      return report;
    } finally {
      release();
    }
  }

  /** Writes the cause; the caller sends the signals. */
  toKill(cause: Cause): KillTarget {
    this.#life.giveCause(cause);
    return { started: this.started, ended: this.#life.ended };
  }

  /** What it left running, once it has ended. */
  async leftovers(): Promise<readonly ProcessRef[]> {
    return await this.#host.leftoversOf(this.started);
  }

  /** The shim has told the host how it ended. */
  conclude(told: ExitRecord): void {
    this.#life.conclude(told);
  }

  /** Looks whether it still lives. A stopped shim would never record that its command has ended: it is continued. */
  refresh(): void {
    const { shimPid, shimStart, commandPid, commandStart, unseen } = this.started;
    if (this.outcome || unseen !== undefined || this.#host.isAlive(commandPid, commandStart)) return;
    if ("Tt".includes(readStat(shimPid)?.state ?? "-"))
      this.#host.signal({ pid: shimPid, startTime: shimStart }, "SIGCONT");
  }

  #followed() {
    return { hasEnded: () => !this.isRunning, ended: this.#life.ended, from: this.#from };
  }

  async #signalAll(signal: NodeJS.Signals, cause: Cause | undefined): Promise<KillReport> {
    if (cause) this.#life.giveCause(cause);
    const target = { started: this.started, ended: this.#life.ended };
    const reports = await signalShells(this.#host, [target], signal);
    return reports.get(this.started) ?? { signalled: [], survivors: [] };
  }
}

const STREAMS = ["stdout", "stderr"] as const;
