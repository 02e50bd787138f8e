// The bashes of a session, one after another, and the state that outlives each of them. Owns these fields, which other
// files change only through methods:
//   directory   the working directory (session-directory.ts)
//   shells      the shells that end with the session (session-shells.ts)
//   #bash       the bash that takes the next command, #starting: one that is being started (bash-starter.ts)
//   #saved      what the next bash takes over
//   #number     the number of the last command sent, #endedNumber: of the last command that ended
//   #lastCode   the `$?` of the next command, #meaning: the state that changes what the next command means
import { randomBytes } from "node:crypto";
import type { Cause } from "../engine/end-record.ts";
import type { KillReport } from "../shell/kill-report.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { RESTORE_CHECK_MAX_MS, STATE_SAVE_MAX_MS } from "../support/limits.ts";
import { within } from "../support/timing.ts";
import { BashStarter } from "./bash-starter.ts";
import { type MissingCommands, NO_STATE, type SavedState } from "./bash-state.ts";
import type { SessionBash } from "./session-bash.ts";
import { nearestDirectory, SessionDirectory } from "./session-directory.ts";
import { type Meaning, type MeaningReport, meaningAfter } from "./session-meaning.ts";
import { goneDirectoryNote, type NextBash } from "./session-notes.ts";
import type { SavedSession, SessionDeps, SessionOptions } from "./session-options.ts";
import { SessionShells } from "./session-shells.ts";

export class SessionLineage {
  /** Part of the names and marks in the saved states of the session. */
  readonly nonce: string;
  readonly directory: SessionDirectory;
  readonly shells: SessionShells;
  readonly #id: string;
  readonly #options: SessionOptions;
  readonly #starter: BashStarter;
  #number = 0;
  #endedNumber = 0;
  #lastCode = 0;
  #meaning: Meaning | undefined;
  #bash: SessionBash | undefined;
  #starting: Promise<SessionBash> | undefined;
  #saved: SavedState = NO_STATE;
  #isResetting = false;
  #isSealed = false;

  constructor(deps: SessionDeps, id: string, options: SessionOptions) {
    const { saved, workingDir } = options;
    this.#id = id;
    this.#options = options;
    this.nonce = saved?.nonce ?? randomBytes(3).toString("hex");
    // If the session continues a saved one, no call has named a directory yet.
    const named = options.named ?? (saved ? undefined : workingDir);
    this.directory = new SessionDirectory(saved?.cwd ?? workingDir, named, deps.allowedRoots);
    this.shells = new SessionShells(deps.engine);
    this.#starter = new BashStarter(deps, { ...options, id, nonce: this.nonce });
    if (saved) this.#saved = { state: saved.state, prefix: saved.prefix };
    this.#meaning = saved?.meaning;
  }

  /** The directory that the sandbox makes writable, unless the manager names another one. */
  get workspace(): string {
    return this.#options.workingDir;
  }

  /** The bash that takes the next command, if it is alive. */
  get bash(): SessionBash | undefined {
    return this.#bash?.isAlive ? this.#bash : undefined;
  }

  get hasBash(): boolean {
    return this.bash !== undefined || this.#starting !== undefined;
  }

  /** undefined before the first command. */
  get meaning(): Meaning | undefined {
    return this.#meaning;
  }

  get lastCode(): number {
    return this.#lastCode;
  }

  /** Whether the session's profile has not been sourced yet. */
  get awaitsProfile(): boolean {
    return this.#starter.awaitsProfile;
  }

  /** The last commands whose changes the next bash lacks. */
  get missing(): MissingCommands | undefined {
    return this.#saved.missing;
  }

  /** What will replace a bash that has ended. */
  get next(): NextBash {
    if (this.#isSealed) return "none";
    if (this.#isResetting) return "reset";
    return this.#saved.state === undefined ? "successor without state" : "successor";
  }

  /** The directory that a call with this `workingDir` runs in. */
  directoryFor(named: string | undefined): string {
    if (this.directory.isNew(named)) return named;
    const { bash } = this;
    return bash?.isReady ? this.directory.inBash(bash.started.commandPid) : this.#nearest();
  }

  /**
   * The bash that takes the next command. Starts one if there is none. `died`: the previous bash, if it was found dead.
   */
  async current(
    notes: string[],
  ): Promise<{ readonly bash: SessionBash; readonly died: SessionBash | undefined }> {
    const { bash } = this;
    if (bash) return { bash, died: undefined };
    // bash ended between two commands. Continue with the state that it saved last.
    const died = this.#bash;
    if (died) await this.bashEnded(died, this.#number);
    await died?.close();
    const { cwd } = this.directory;
    const nearest = this.#nearest();
    if (nearest !== cwd) {
      notes.push(goneDirectoryNote(cwd, nearest));
      this.directory.changeTo(nearest);
    }
    return { bash: await (this.#starting ?? this.#start()), died };
  }

  /** Starts the next bash before a command needs it. */
  prepareNext(): void {
    if (this.#isSealed || this.hasBash || this.#nearest() !== this.directory.cwd) return;
    // If this fails, the next command reports the failure.
    this.#start().catch(() => {});
  }

  /** Returns the number of the command that is about to be sent. */
  beginCommand(): number {
    return ++this.#number;
  }

  /** Call this when the command or its bash has ended, or the command continues without the session. */
  endCommand(number: number): void {
    this.#endedNumber = number;
  }

  /** Call this when the command has ended, but not its bash. `env`: the variables of the call. */
  commandRan(
    code: number,
    meaning: MeaningReport | undefined,
    env: Readonly<Record<string, string>> = {},
  ): void {
    this.#lastCode = code;
    if (meaning) this.#meaning = meaningAfter(meaning, env, this.#meaning);
  }

  /** Returns the session to its directory from before the command. `code`: the `$?` of the next command. */
  rollBack(cwd: string, code: number): void {
    this.directory.changeTo(cwd);
    this.#lastCode = code;
  }

  /** Call this when the session needs another bash. The next bash continues with the state after command `number`. */
  async bashEnded(bash: SessionBash, number: number): Promise<void> {
    if (this.#bash !== bash) return;
    if (bash.isReady) await bash.state.saves.finish(number);
    if (this.#bash !== bash) return;
    this.#bash = undefined;
    // A bash that never became ready has saved no state.
    if (!bash.isReady) return;
    this.#saved = bash.state.stateForNextBash(number);
    if (this.#saved.state === undefined) this.#meaning = undefined;
  }

  /** Call this when the session gives up its idle bash. */
  async retire(bash: SessionBash): Promise<void> {
    await this.bashEnded(bash, this.#number);
  }

  /** Call this when the command continues in its bash, as this shell, without the session. */
  async detach(bash: SessionBash, shell: ShellProcess): Promise<void> {
    this.#starter.leaveSandboxTo(bash);
    this.shells.add(shell);
    bash.detachAs(shell);
    await this.bashEnded(bash, this.#number - 1);
  }

  /** Drops the saved state. Call this if the last bash died while it was restoring this state. */
  forgetState(): void {
    this.#saved = NO_STATE;
    this.#meaning = undefined;
  }

  /** Waits a short time for the next bash, and returns what that bash failed to restore. */
  async unrestoredNext(): Promise<string[] | "unknown" | NacreError> {
    const starting = this.#starting;
    if (!starting) return "unknown";
    const unrestored = starting.then((bash) => bash.state.takeUnrestored(bash)).catch(asError);
    return (await within(RESTORE_CHECK_MAX_MS, unrestored)) ?? "unknown";
  }

  /** The state after the last command that has ended. */
  async savedState(): Promise<SavedState> {
    const bash = this.#bash;
    if (!bash?.isReady) return this.#saved;
    // bash died between two commands. The next command replaces bash and reports the death.
    if (!bash.isAlive) {
      await bash.state.saves.finish(this.#number);
      return bash.state.stateForNextBash(this.#number);
    }
    const isSaved = await bash.saved(this.#endedNumber);
    const isLate = !isSaved && bash.isAlive;
    const why = isLate ? `bash took longer than ${STATE_SAVE_MAX_MS} ms` : "its files are gone";
    const current = bash.state.current(this.#endedNumber, why);
    return { ...current, state: current.state ?? this.#saved.state };
  }

  /** The state for a session in another process; undefined before the first command. */
  async save(): Promise<SavedSession | undefined> {
    const { state, prefix } = await this.savedState();
    if (state === undefined) return undefined;
    const meaning = this.#meaning;
    const { nonce } = this;
    return { cwd: this.directory.cwd, nonce, state, prefix, ...(meaning ? { meaning } : {}) };
  }

  /** Call this before reset(), so that notes about the bash that ends now mention the reset. */
  announceReset(): void {
    this.#isResetting = true;
  }

  /** Returns the session to its original directory, with clean state. */
  reset(): void {
    this.forgetState();
    this.#isResetting = false;
    this.directory.reset(this.#options.workingDir);
    this.#lastCode = 0;
  }

  /** Prevents further bashes from starting. */
  seal(): void {
    this.#isSealed = true;
  }

  /** Kills every bash and everything that bashes and commands started. Waits until the running call has its result. */
  async endAll(cause: Cause, graceMs: number, running?: Promise<unknown>): Promise<KillReport> {
    // End these first: otherwise the next line would wait for a profile.
    this.#starter.endUnready(cause);
    await this.#starting?.catch(() => {});
    this.#starter.endSandbox();
    const report = await this.shells.kill(cause, graceMs);
    const bash = this.#bash;
    // The call must return even if the kernel cannot end its bash.
    if (bash?.isAlive) bash.abandon();
    await running?.catch(() => {});
    this.#bash = undefined;
    await bash?.close();
    return report;
  }

  #start(): Promise<SessionBash> {
    this.#starting = this.#startNow().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #startNow(): Promise<SessionBash> {
    if (this.#isSealed) throw new NacreError("invalid_input", `The session ${this.#id} has been closed.`);
    const bash = await this.#starter.start(this.directory, this.#number, this.#saved);
    this.shells.add(bash.shell);
    this.#bash = bash;
    return bash;
  }

  /** Where the next bash can start. This process cannot see directories inside an open sandbox. */
  #nearest(): string {
    const { cwd } = this.directory;
    return this.#starter.isSandboxOpen ? cwd : nearestDirectory(cwd);
  }
}

function asError(thrown: unknown): NacreError {
  return thrown instanceof NacreError
    ? thrown
    : new NacreError("internal", messageOf(thrown), { cause: thrown });
}
