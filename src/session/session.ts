// A session looks like one bash that never ends. Commands run in it one at a time, at top level, each with the state
// that the previous commands left.
//
//   run(command)
//     takeTurn                   checks the call, waits for earlier commands (support/semaphore.ts)
//     SessionLineage.current     the bash that takes the command; starts one if there is none (session-lineage.ts)
//     CommandRun.result          runs it in that bash (command-run.ts)
//       planCommand              directory, loggers, message (command-plan.ts)
//       SessionBash.run          writes the harness and the command to bash's stdin (session-harness.ts, bash-pipes.ts)
//       SessionBash.take         receives bash's report (session-reports.ts)
//       RunningCommand.end       report, timeout or cancellation, whichever comes first (running-command.ts)
//       leftovers, drain, output parts, result
//
// Session owns the queue, the running command and whether the session is closed. README.md lists the owners of all
// other state.
import type { SessionFacts } from "../policy/shell-model/session-facts.ts";
import type { KillReport } from "../shell/kill-report.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { statusOf } from "../shell/shell-status.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { type EventLoopHold, holdEventLoop } from "../support/event-loop-hold.ts";
import { DISPOSE } from "../support/realms.ts";
import { Semaphore } from "../support/semaphore.ts";
import { checkStart, checkWorkingDir } from "../support/start-checks.ts";
import { BackgroundStarts } from "./background-starts.ts";
import { checkedEnv } from "./command-plan.ts";
import { CommandRun } from "./command-run.ts";
import type { SessionBash } from "./session-bash.ts";
import { SessionLineage } from "./session-lineage.ts";
import * as note from "./session-notes.ts";
import type {
  CloseOptions,
  RunOptions,
  SavedSession,
  SessionDeps,
  SessionOptions,
  SessionResult,
  StartOptions,
  Turn,
} from "./session-options.ts";

export interface NewSession extends SessionOptions {
  readonly id: string;
  readonly deps: SessionDeps;
  /** Called before the session needs a bash. */
  readonly onUse: (session: Session) => Promise<void>;
  readonly onClose: (session: Session) => void;
}

export class Session {
  readonly id: string;
  readonly scope: string;
  readonly createdAt = wallMs();
  readonly #options: NewSession;
  readonly #deps: SessionDeps;
  readonly #lineage: SessionLineage;
  readonly #queue = new Semaphore(1);
  readonly #backgroundStarts: BackgroundStarts;
  #usedMs = monotonicMs();
  #run: CommandRun | undefined;
  /** The pending result of the running call. */
  #result: Promise<unknown> | undefined;
  #isClosed = false;

  constructor(options: NewSession) {
    const { id, deps, scope = "default" } = options;
    checkWorkingDir(options.workingDir, deps.allowedRoots);
    this.id = id;
    this.scope = scope;
    this.#options = options;
    this.#deps = deps;
    this.#lineage = new SessionLineage(deps, id, options);
    this.#backgroundStarts = new BackgroundStarts({
      deps,
      lineage: this.#lineage,
      id,
      scope,
      takeTurn: () => this.#queue.take(),
      anyBash: () => this.#anyBash(),
    });
  }

  /** Where the next command runs. */
  get cwd(): string {
    return this.#lineage.directory.cwd;
  }

  /** The state that changes the meaning of the next command; null before the first command. @internal */
  get meaning(): SessionFacts | null {
    return this.#lineage.meaning?.facts ?? null;
  }

  get isBusy(): boolean {
    return this.#queue.isHeld;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the session has a bash, or is starting one. An idle session may have none. */
  get hasBash(): boolean {
    return this.#lineage.hasBash;
  }

  /** When the session was last used, on the monotonic clock. @internal */
  get usedMs(): number {
    return this.#usedMs;
  }

  /** `workingDir` itself, or the session's current directory if the last call named the same one. @internal */
  directoryFor(workingDir: string | undefined): string {
    return this.#lineage.directoryFor(workingDir);
  }

  /** Makes the next call that names a directory run in it, even if the last call named the same directory. @internal */
  forgetNamedDirectory(): void {
    this.#lineage.directory.forgetNamed();
  }

  /** Runs a command after all earlier ones. Returns every ending as a value. Throws only if the command did not run. */
  async run(command: string, options: RunOptions = {}, turn?: Turn): Promise<SessionResult> {
    const taken = turn ?? (await this.takeTurn(command, options));
    try {
      return await this.#runInTurn(command, options, taken);
    } finally {
      if (!turn) taken[DISPOSE]();
    }
  }

  async #runInTurn(command: string, options: RunOptions, turn: Turn): Promise<SessionResult> {
    const { env, directory: workingDir } = turn;
    // Check again: the session may have been closed while a person was asked for approval.
    this.#checkOpen();
    if (!this.hasBash) await this.#options.onUse(this);
    // A command has no id, so its events carry the id of the session.
    const emitted = { id: this.id, scope: this.scope, session: this.id };
    this.#deps.events.emit("start", { ...emitted, command, workingDir, durable: false });
    this.#usedMs = monotonicMs();
    const running = this.#runInBash(command, { ...options, env });
    this.#result = running;
    try {
      const result = await running;
      const { outcome, exitCode, durationMs } = result;
      const signal = outcome && "signal" in outcome ? (outcome.signal ?? null) : null;
      // If the command continues as a background shell, that shell emits the end event.
      if (!result.shell)
        this.#deps.events.emit("end", {
          ...emitted,
          status: statusOf(outcome),
          exitCode,
          signal,
          durationMs,
        });
      return result;
    } finally {
      this.#result = undefined;
      this.#run = undefined;
      this.#usedMs = monotonicMs();
    }
  }

  /** Checks the call, then waits for all earlier commands. @internal */
  async takeTurn(command: string, options: RunOptions = {}): Promise<Turn> {
    const { timeoutMs, workingDir, signal, onWait } = options;
    const env = options.env ? checkedEnv(options.env) : {};
    checkStart({ command, timeoutMs, workingDir }, this.#deps.allowedRoots);
    const hold = holdEventLoop();
    let lease: Disposable | undefined;
    try {
      lease = await this.#queue.take({
        signal,
        abortError: abortedInQueue,
        onWait: (waiting) => onWait?.(waiting + 1),
      });
      this.#checkOpen();
      const directory = this.directoryFor(workingDir);
      return { env, directory, meaning: this.meaning, [DISPOSE]: leave(hold, lease) };
    } catch (error) {
      leave(hold, lease)();
      throw error;
    }
  }

  /** Starts a separate shell with the current directory, exports and functions of the session. */
  async start(command: string, options: StartOptions = {}): Promise<ShellProcess> {
    this.#checkOpen();
    using _hold = holdEventLoop();
    return await this.#backgroundStarts.start(command, options);
  }

  /** The state from which a session in another process can continue; undefined before the first command. @internal */
  async save(): Promise<SavedSession | undefined> {
    using _hold = holdEventLoop();
    return await this.#lineage.save();
  }

  /** Interrupts the running command, as Ctrl-C does. Returns whether a command was running. */
  async interrupt(): Promise<boolean> {
    const run = this.#run;
    if (!run?.isRunning) return false;
    using _hold = holdEventLoop();
    await run.interrupt();
    return true;
  }

  /** Kills everything in the session. The next bash starts in the session's original directory with clean state. */
  async restart(): Promise<KillReport> {
    this.#checkOpen();
    using _hold = holdEventLoop();
    const turn = this.#queue.take({ isFirst: true });
    this.#lineage.announceReset();
    const cause = { kind: "killed", detail: "restart()" } as const;
    await this.#run?.kill(cause);
    using _turn = await turn;
    const report = await this.#lineage.endAll(cause, this.#deps.killGraceMs);
    this.#lineage.reset();
    return report;
  }

  /** Ends bash but not its leftover processes. The next command gets a new bash with the saved state. @internal */
  async rest(): Promise<void> {
    const lineage = this.#lineage;
    const { bash } = lineage;
    if (!bash || this.isBusy) return;
    using _turn = await this.#queue.take();
    bash.finish();
    const { kind } = await bash.shell.waitUntil({ exit: true }, this.#deps.killGraceMs);
    if (kind === "expired") await bash.shell.end({ kind: "killed", detail: "rest()" }, 0);
    await lineage.retire(bash);
    await bash.close();
  }

  /** Ends the session and everything that it started, except durable shells. */
  async close({ by = "the end of its session", ...options }: CloseOptions = {}): Promise<KillReport> {
    const { graceMs = this.#deps.killGraceMs } = options;
    if (this.#isClosed) return { signalled: [], survivors: [] };
    this.#isClosed = true;
    this.#options.onClose(this);
    using _hold = holdEventLoop();
    this.#lineage.seal();
    const report = await this.#lineage.endAll({ kind: "killed", detail: by }, graceMs, this.#result);
    this.#backgroundStarts.removeFiles();
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Runs the command in the current bash. If this bash dies before it has read the command, uses the next one. */
  async #runInBash(command: string, options: RunOptions): Promise<SessionResult> {
    const lineage = this.#lineage;
    const changeTo = lineage.directory.takeChange(options.workingDir);
    const notes: string[] = [];
    let restarted = false;
    for (let tries = 0; tries < 3; tries++) {
      const { bash, died } = await lineage.current(notes);
      if (died) notes.push(note.foundDeadNote(died.shell.outcome), ...note.staleNotes(lineage.missing));
      restarted ||= died !== undefined;
      const context = { deps: this.#deps, lineage, bash, command, options, changeTo, notes };
      this.#run = new CommandRun(context, restarted);
      const result = await this.#run.result();
      if (result) return result;
      restarted = true;
      if (bash.isReady) {
        notes.push(note.foundDeadNote(bash.shell.outcome));
        continue;
      }
      lineage.forgetState();
      notes.push(note.failedToStartNote(bash.options.profile));
    }
    throw new NacreError(
      "spawn_failed",
      "The session's bash dies before it takes a command. Stop the program that kills bash, then try again.",
    );
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new NacreError("invalid_input", `The session ${this.id} has been closed.`);
  }

  /** The bash of the session, which may not be ready yet. */
  async #anyBash(): Promise<SessionBash> {
    if (!this.hasBash) await this.#options.onUse(this);
    return (await this.#lineage.current([])).bash;
  }
}

function leave(hold: EventLoopHold, lease: Disposable | undefined): () => void {
  return () => {
    lease?.[DISPOSE]();
    hold.release();
  };
}

function abortedInQueue(): NacreError {
  return new NacreError("aborted", "The call was cancelled before its turn came; the command was not run.");
}
