// One tracked run of a command: its state, its output, how it ended, and how to end it. The manager starts and lists
// shells; shell-life.ts decides how a shell ended, shell-output.ts reads its output.
import type { Confinement } from "../engine/confinement.ts";
import type { Cause, ExitRecord } from "../engine/end-record.ts";
import type { ShellScope } from "../engine/process-scope.ts";
import { isSameProcess, isStopped, type ProcessRef } from "../engine/process-table.ts";
import { continueShim } from "../engine/signals.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { holdEventLoop } from "../support/event-loop-hold.ts";
import { INTERRUPT_GRACE_MS, KILL_GRACE_MS } from "../support/limits.ts";
import { checkOptions } from "../support/option-checks.ts";
import { diagnosedShell } from "./diagnosed-shell.ts";
import { type Diagnosis, diagnose } from "./diagnosis.ts";
import type { Followed, OutputBytes, OutputPiece, StreamName } from "./follow-output.ts";
import { interruptCommand } from "./interrupt.ts";
import { endShells, type KillTarget, signalShells } from "./kill.ts";
import type { KillReport } from "./kill-report.ts";
import { codeOf, describeOutcome, type Outcome } from "./outcome.ts";
import type { OutputPart } from "./output-part.ts";
import { type SearchOptions, type SearchResult, searchOutput } from "./output-search.ts";
import { remarksOn, truncationRemarks } from "./remarks.ts";
import { ShellLife } from "./shell-life.ts";
import { ShellOutput, type StreamCursors } from "./shell-output.ts";
import { type ShellStatus, statusOf } from "./shell-status.ts";
import { TerminalShell } from "./terminal-shell.ts";
import type { TrackedShellOptions } from "./tracked-shell-options.ts";
import type { WaitCondition, WaitedFor, WaitFor, WaitLimit, WaitResult, WaitTarget } from "./wait-for.ts";
import * as wait from "./wait-for.ts";

export type ShellProcessOptions = TrackedShellOptions<ShellProcess>;

export class ShellProcess extends TerminalShell {
  readonly command: string;
  readonly workingDir: string;
  readonly scope: string;
  /** Milliseconds since the epoch, like all wall-clock times here. */
  readonly createdAt: number;
  readonly startedAt: number;
  readonly #processes: ShellScope;
  readonly #graceMs: number;
  readonly #life: ShellLife;
  readonly #waitTarget: Omit<WaitTarget, "deadline">;
  readonly #output: ShellOutput;
  readonly #onKill: ShellProcessOptions["onKill"];
  readonly #remarks: string[] = [];

  /** @internal */
  constructor(options: ShellProcessOptions) {
    const { started } = options;
    super(started, () => this.outcome && describeOutcome(this.outcome));
    this.command = options.command;
    this.workingDir = started.meta.workingDir;
    this.scope = started.meta.scope;
    this.createdAt = started.meta.createdAt;
    this.startedAt = started.attached ? started.meta.createdAt : wallMs();
    this.#processes = options.processes;
    this.#graceMs = options.graceMs ?? KILL_GRACE_MS;
    this.#onKill = options.onKill;
    this.#life = new ShellLife(started, () => options.onEnd(this), options);
    this.#output = new ShellOutput(started, this.#life);
    const { processes, allowedRoots } = options;
    this.#waitTarget = { files: started.files, started, processes, allowedRoots, life: this.#life };
  }

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

  /** null while the shell runs, or if no exit code is known. */
  get exitCode(): number | null {
    return this.outcome ? codeOf(this.outcome) : null;
  }

  /** The signal that ended it, inferred from the exit code. */
  get signal(): string | null {
    return this.outcome?.kind === "signaled" ? this.outcome.signal : null;
  }

  get completedAt(): number | null {
    return this.#life.completedAt;
  }

  /** The time since its end, unaffected by changes of the wall clock; null while it runs. */
  get endedAgoMs(): number | null {
    return this.#life.endedAgoMs;
  }

  get durationMs(): number {
    return this.#life.durationMs;
  }

  /** Whether the shell outlives the host process that started it. */
  get durable(): boolean {
    return this.started.meta.durable;
  }

  /** Its sandbox, and which restrictions are not enforced; undefined if none was requested. */
  get confinement(): Confinement | undefined {
    return this.started.meta.confinement;
  }

  /** Facts about the start and the end of the shell apart from its exit code: lost output, limits reached. */
  get remarks(): readonly string[] {
    const { record } = this.#life;
    const truncations = truncationRemarks(record, this.started, this.#output.truncated);
    return [...this.#remarks, ...truncations, ...(record ? remarksOn(record, this.started) : [])];
  }

  /** @internal */
  get startRemarks(): readonly string[] {
    return [...this.#remarks];
  }

  /** Adds remarks that only this process knows. @internal */
  remark(...remarks: readonly string[]): void {
    this.#remarks.push(...remarks);
  }

  /** Plain data for JSON.stringify. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { id, command, workingDir, scope, status, exitCode, signal } = this;
    const { createdAt, completedAt, durationMs, durable } = this;
    const times = { createdAt, completedAt, durationMs };
    return { id, command, workingDir, scope, status, exitCode, signal, durable, ...times };
  }

  /** The files with the raw output. */
  get outputFiles(): Readonly<Record<StreamName, string>> {
    return { stdout: this.started.files.stdout, stderr: this.started.files.stderr };
  }

  /** The parts of the files that contain the output of this shell so far. */
  get outputParts(): Readonly<Record<StreamName, OutputPart>> {
    return this.#output.parts;
  }

  /** @internal */
  get lastReadStdout(): number {
    return this.cursors().stdout.position;
  }

  /** @internal */
  get lastReadStderr(): number {
    return this.cursors().stderr.position;
  }

  /** A reader's positions in the output. Readers do not disturb each other. @internal */
  cursors(reader = ""): StreamCursors {
    return this.#output.cursors(reader);
  }

  /**
   * The new output since this reader's last call, stdout first. A very large backlog takes several calls. If
   * `includeStderr` is false, the cursor of stderr does not move.
   */
  getNewOutput({ includeStderr = true, reader = "" } = {}): string {
    return this.#output.takeNew(reader, includeStderr);
  }

  /** All output so far. Moves no cursor. */
  getAllOutput(): string {
    return this.#output.all();
  }

  /**
   * Searches the whole output for lines, in a worker thread. Moves no cursor. `pattern`: RE2 syntax, or a RegExp
   * that RE2 understands; undefined shows every line.
   */
  async search(pattern?: string | RegExp, options: SearchOptions = {}): Promise<SearchResult> {
    checkOptions("shell.search", options);
    return await searchOutput({ id: this.id, parts: this.outputParts }, pattern, options);
  }

  /** Observes for a second what each process does or waits for. The result has the shape of `nacre why --json`. */
  async why(): Promise<Diagnosis> {
    using _hold = holdEventLoop();
    return await diagnose(diagnosedShell(this, this.#processes));
  }

  /** Yields everything printed so far, then new output, until the shell ends or the signal aborts. */
  output(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<OutputPiece, void, void> {
    checkOptions("shell.output", options);
    return this.#output.follow(options);
  }

  /** Like output(), but yields raw bytes, and begins at the given positions. */
  outputBytes(options: Pick<Followed, "from" | "signal"> = {}): AsyncGenerator<OutputBytes, void, void> {
    checkOptions("shell.outputBytes", options);
    return this.#output.followBytes(options);
  }

  /**
   * Waits for the end. Returns the exit code, or null if none is known. Throws after the timeout, without ending the
   * shell.
   */
  async wait(timeoutMs?: number): Promise<number | null> {
    await this.waitFor({ exit: true }, timeoutMs);
    return this.exitCode;
  }

  /**
   * Waits for a line that contains a text or matches a pattern, for a port or a file, or for "exit". Searches from the
   * start of the output. Throws if the time is over or the shell ends first.
   */
  async waitFor<const W extends WaitFor>(what: W, limit?: WaitLimit): Promise<WaitedFor<W>> {
    const condition = wait.conditionOf(what, limit);
    const limitMs = condition.timeoutMs ?? (typeof limit === "number" ? limit : undefined);
    const result = await this.waitUntil(condition, limitMs);
    return wait.metOrThrow(result, condition, this.id, limitMs) as WaitedFor<W>;
  }

  /** Like waitFor, but returns every ending as a value. */
  async waitUntil(condition: WaitCondition, timeoutMs?: number): Promise<WaitResult> {
    using _hold = holdEventLoop();
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : monotonicMs() + timeoutMs;
    const target = { ...this.#waitTarget, deadline };
    return await wait.awaitCondition({ from: this.#output.from, ...condition }, target);
  }

  /** Ends the shell and everything it started: TERM, a grace period, KILL. Also ends leftovers of an ended shell. */
  async kill(options: { readonly by?: string; readonly graceMs?: number } = {}): Promise<KillReport> {
    checkOptions("shell.kill", options);
    const { by = "kill()", graceMs = this.#graceMs } = options;
    return await this.end({ kind: "killed", detail: by }, graceMs);
  }

  /** Sends TERM to everything that the shell started, and does not wait. */
  async terminate({ by = "terminate()" } = {}): Promise<KillReport> {
    return await this.#signalAll("SIGTERM", { kind: "terminated", detail: by });
  }

  /** Sends one signal to everything that the shell started. */
  async sendSignal(signal: NodeJS.Signals): Promise<KillReport> {
    return await this.#signalAll(signal, undefined);
  }

  /**
   * Interrupts the shell as Ctrl-C does: sends INT, which runs traps, to all its processes at once. After the grace
   * period, kills the rest. Resolves when none of its processes is left.
   */
  async interrupt({ by = "interrupt()", graceMs = INTERRUPT_GRACE_MS } = {}): Promise<void> {
    using _hold = holdEventLoop();
    const plan = { scope: this.#processes, shell: this.started, graceMs, hasEnded: () => !this.isRunning };
    if ((await interruptCommand(plan)) === "must be killed")
      await this.end({ kind: "killed", detail: by }, 0);
  }

  /** Ends the shell. Writes the cause to disk before the first signal. @internal */
  async end(cause: Cause, graceMs = this.#graceMs): Promise<KillReport> {
    using _hold = holdEventLoop();
    const reports = await endShells(this.#processes, [this.toKill(cause)], graceMs);
    const report = reports.get(this.started) ?? NOTHING_FOUND;
    this.#onKill?.(this, cause.detail || cause.kind, report);
    return report;
  }

  /** Writes the cause, so that the caller can send the signals. @internal */
  toKill(cause: Cause): KillTarget {
    this.#life.giveCause(cause);
    return { started: this.started, ended: this.#life.ended };
  }

  /** The processes that an ended shell left running. */
  async leftovers(): Promise<readonly ProcessRef[]> {
    return await this.#processes.leftoversOf(this.started);
  }

  /** Call this when the shim has reported the end to the host process. @internal */
  conclude(reported: ExitRecord): void {
    this.#life.conclude(reported);
  }

  /**
   * Checks whether the shell still runs. If only its shim is left and is stopped, continues the shim: otherwise the
   * shim would never record the end. @internal
   */
  refresh(): void {
    const { shimPid, commandPid, commandStart, unseen } = this.started;
    if (this.outcome || unseen !== undefined || isSameProcess(commandPid, commandStart)) return;
    if (isStopped(shimPid)) continueShim(this.started);
  }

  async #signalAll(signal: NodeJS.Signals, cause: Cause | undefined): Promise<KillReport> {
    if (cause) this.#life.giveCause(cause);
    const { ended } = this.#life;
    const reports = await signalShells(this.#processes, [{ started: this.started, ended }], signal);
    return reports.get(this.started) ?? NOTHING_FOUND;
  }
}

const NOTHING_FOUND: KillReport = { signalled: [], survivors: [] };
