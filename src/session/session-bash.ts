// One bash of a session: sends commands to bash, and returns how each command ended, or that bash itself ended. Owns
// the outstanding command and the states ready, stuck and ended. bash-state.ts owns what bash reported about itself.
import type { ExitRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import type { Outcome } from "../shell/outcome.ts";
import { confinementRemarks } from "../shell/remarks.ts";
import { ShellProcess } from "../shell/shell-process.ts";
import { BashWatchdog, type ReportFifo } from "./bash-pipes.ts";
import { BashState, type BashStateOptions } from "./bash-state.ts";
import { bashRecord } from "./detached-bash.ts";
import { Logger } from "./logger.ts";
import { type CommandPlan, commandMessage, exitMessage } from "./session-harness.ts";
import type { MeaningReport } from "./session-meaning.ts";
import { SessionOutput } from "./session-output.ts";
import type { Report } from "./session-reports.ts";
import type { BashProcess, SessionSandbox } from "./session-sandbox.ts";

export type Ending =
  | {
      readonly kind: "ran";
      readonly code: number;
      /** The value of PWD. */
      readonly cwd: string;
      /** The state that changes the meaning of the next command, if this command may have changed that state. */
      readonly meaning: MeaningReport | undefined;
    }
  /**
   * bash has ended. `taken`: whether bash had read the command, which means that it ran. `wedged`: whether bash no
   * longer followed the harness.
   */
  | { readonly kind: "ended"; readonly outcome: Outcome; readonly taken: boolean; readonly wedged: boolean };

export const UNKILLABLE: Outcome = { kind: "lost", reason: "it did not end after SIGKILL" };

export interface SessionBashOptions extends BashProcess, BashStateOptions {
  readonly engine: Engine;
  /** undefined in a sandbox, because the bashes there share one report pipe. */
  readonly reports: ReportFifo | undefined;
  /** The directory that bash writes its state to. */
  readonly scratch: string;
  readonly capBytes: number;
  /** The sandbox that this bash shares with the previous and the next bash. */
  readonly sandbox: SessionSandbox | undefined;
  readonly onEnd: (bash: SessionBash) => void;
  /** Kills bash and the processes of the command in which bash is stuck. */
  readonly kill: (bash: SessionBash, number: number) => void;
}

export class SessionBash {
  readonly options: SessionBashOptions;
  readonly started: StartedShell;
  readonly shell: ShellProcess;
  readonly output: SessionOutput;
  readonly state: BashState;
  readonly scratch: string;
  readonly #watchdog: BashWatchdog;
  readonly #onReady: (() => void)[] = [];
  #isReady = false;
  #isOverdue = false;
  #isOver = false;
  #isWedged = false;
  /** The number of script lines sent so far. */
  #lines = 0;
  #isSent = false;
  #lastNumber = 0;
  #waiting: { readonly number: number; readonly resolve: (ending: Ending) => void } | undefined;
  /** The background shell that continues this bash's command. */
  #detached: ShellProcess | undefined;

  constructor(options: SessionBashOptions) {
    const { engine, started, sandbox, channel } = options;
    const { files, loggers } = started;
    this.options = options;
    this.started = started;
    this.scratch = options.scratch;
    this.state = new BashState(this.scratch, options);
    this.shell = new ShellProcess({
      processes: engine,
      started,
      command: "bash",
      onEnd: () => {
        this.#ended();
        options.onEnd(this);
      },
    });
    this.output = new SessionOutput({
      engine: sandbox?.fifoDir ?? engine,
      dir: files.dir,
      capBytes: options.capBytes,
      earlier: sandbox?.earlierOutput,
      endWithBash: sandbox === undefined,
      loggers: {
        stdout: new Logger(loggers?.stdout ?? 0, files.stdout),
        stderr: new Logger(loggers?.stderr ?? 0, files.stderr),
      },
    });
    this.#watchdog = new BashWatchdog({
      pid: started.commandPid,
      channel,
      isAnyLoggerGone: () => this.output.isAnyLoggerGone,
      endScript: () => {
        this.#isWedged = true;
        this.#endScript();
      },
      kill: () => options.kill(this, this.#lastNumber),
    });
  }

  /** Whether bash has become ready for commands. Still true after its end. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether its profile took too long. */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  /** True until the end of bash is reported. Does not ask the kernel, because that would take too long. */
  get isAlive(): boolean {
    return !this.#isOver;
  }

  /** The line of bash's script at which the next command begins. */
  get nextLine(): number {
    return this.#lines + (this.state.isUnsaved ? 2 : 1);
  }

  /** New remarks, since the last call, about the sandbox and the limits of bash. */
  takeRemarks(): string[] {
    return this.started.meta.confinement ? this.options.takeRemarks() : [];
  }

  /** Remarks about the command that ended bash. */
  get endRemarks(): readonly string[] {
    return this.output.isInExitRecord ? this.shell.remarks : confinementRemarks(this.started);
  }

  send(message: string): void {
    this.#lines++;
    this.options.channel?.send(message);
  }

  /** Sends a command and waits for its end. */
  run(plan: CommandPlan): Promise<Ending> {
    const { number } = plan;
    return new Promise((resolve) => {
      this.#waiting = { number, resolve };
      this.#isSent = !this.#isOver;
      this.#lastNumber = number;
      if (this.#isOver) return this.#ended();
      this.save(commandMessage(this.options.harness, plan));
      this.state.prepareSave(plan);
      this.#watchdog.start();
    });
  }

  /**
   * Makes bash save the state after the last command, unless that was already requested. Then sends the message. With
   * `mayFork`, bash may fork a saver for this. Do not call this right after the report: bash would compete with this
   * process for the processor.
   */
  save(message = "", mayFork = true): void {
    const unsaved = this.state.takeSave(mayFork);
    if (unsaved !== undefined && message !== "") this.#lines++;
    if (unsaved !== undefined || message !== "") this.send(`${unsaved ?? ""}${message}`);
  }

  /** Resolves with true when bash has tried to save the state after this command, with false if it never will. */
  async saved(number: number): Promise<boolean> {
    this.save();
    return await this.state.saves.settled(number, () => this.isAlive);
  }

  /** Resolves when bash is ready for commands or has ended. */
  async ready(): Promise<void> {
    if (this.#isReady || this.#isOver) return;
    await new Promise<void>((resolve) => this.#onReady.push(resolve));
  }

  /** Ends bash because its profile took too long. */
  expire(): void {
    this.#isOverdue = true;
    void this.shell.end({ kind: "killed", detail: "the session" }, 0);
  }

  /** Lets the command continue as this shell. bash exits after the command. */
  detachAs(shell: ShellProcess): void {
    this.#detached = shell;
    this.#settle();
    this.#endScript();
    this.options.sandbox?.end();
  }

  /** Ends bash in the same way as the end of its script: nothing is killed, and the EXIT trap runs. */
  finish(): void {
    this.save("", false);
    this.options.channel?.end();
  }

  /** Stops waiting for a bash that cannot be killed. */
  abandon(): void {
    this.#settleEnded(UNKILLABLE, true);
  }

  /** Closes everything that this process holds open for bash. */
  async close(): Promise<void> {
    this.#watchdog.close();
    this.options.channel?.close();
    await this.output.close();
  }

  take(report: Report): void {
    if (report.token !== this.options.harness.token) return;
    if (this.#isOver && report.kind !== "saving" && report.kind !== "saved") return;
    switch (report.kind) {
      case "ready":
        this.#isReady = true;
        this.state.started(report.expandsAliases);
        this.#wake();
        break;
      case "ended":
        this.conclude(bashRecord({ exitCode: report.code }));
        break;
      case "saved":
        this.state.saves.take(report.number, report.problem, report.tookMs);
        break;
      case "saving":
        this.state.saves.forked(report.number, this.options.pidOf(report.pid));
        break;
      case "ran": {
        const { number, code, cwd, meaning } = report;
        const isAwaited = number === this.#waiting?.number;
        this.state.reported(report, isAwaited);
        if (isAwaited) this.#settle()?.({ kind: "ran", code, cwd, meaning });
      }
    }
  }

  /** Call this when the shim has reported the end of bash. */
  conclude(record: ExitRecord): void {
    this.output.record(record);
    if (this.#detached?.isRunning) void this.#concludeDetached(this.#detached, record);
    else this.shell.conclude(record);
  }

  /**
   * Concludes the shell of a detached command. First drains loggers that the shim did not start, because the shim waits
   * only for its own.
   */
  async #concludeDetached(shell: ShellProcess, record: ExitRecord): Promise<void> {
    this.#isOver = true;
    this.#detached = undefined;
    if (!this.output.isInExitRecord) shell.remark(...(await this.output.drainLast()));
    const truncated: string[] = [];
    this.output.parts(truncated);
    shell.remark(...truncated);
    this.shell.conclude(record);
    shell.conclude(record);
    await this.close();
  }

  #ended(): void {
    const { channel } = this.options;
    this.#isOver = true;
    this.#wake();
    this.state.saves.wake();
    channel?.close();
    const { outcome } = this.shell;
    // The shim has died, so no process watches bash any more.
    if (outcome?.kind === "lost") {
      this.options.kill(this, this.#lastNumber);
      if (this.#detached) void this.close();
    }
    // A command must not run twice. So check whether bash has emptied the pipe: its "ready" report may arrive later.
    if (outcome) this.#settleEnded(outcome, this.#isSent && channel?.unreadBytes === 0);
  }

  #settleEnded(outcome: Outcome, taken: boolean): void {
    this.#settle()?.({ kind: "ended", outcome, taken, wedged: this.#isWedged });
  }

  #wake(): void {
    for (const resolve of this.#onReady.splice(0)) resolve();
  }

  #settle(): ((ending: Ending) => void) | undefined {
    this.#watchdog.stop();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting?.resolve;
  }

  /** Ends the script: bash then exits, with the exit code of its command if bash still has that code. */
  #endScript(): void {
    this.send(exitMessage(this.options.harness));
    this.options.channel?.end();
  }
}
