// The bashes of a session, one after another: which one takes the next command, what it takes over from the
// one before, and everything any of them has left running.
import { randomBytes } from "node:crypto";
import type { ReportFifo } from "../hosts/report-fifo.ts";
import type { Cause } from "../spool/end-record.ts";
import { NacreError } from "../support/errors.ts";
import { SESSION_SHELLS_MAX_COUNT } from "../support/limits.ts";
import { endShells, type KillReport } from "./kill.ts";
import type { SessionBash } from "./session-bash.ts";
import { bearBash } from "./session-birth.ts";
import { nearestDirectory } from "./session-directory.ts";
import { goneDirectoryNote } from "./session-notes.ts";
import type { SessionHouse, SessionOptions } from "./session-options.ts";
import { ReportReader } from "./session-reports.ts";
import { readState } from "./session-state.ts";
import type { ShellProcess } from "./shell-process.ts";
import { checkWorkingDir } from "./working-dir.ts";

export class Succession {
  readonly nonce = randomBytes(3).toString("hex");
  readonly #house: SessionHouse;
  readonly #id: string;
  readonly #options: SessionOptions;
  /** Where the next command runs. */
  cwd: string;
  /** Of the last command, and of the last that has ended. */
  number = 0;
  doneNumber = 0;
  lastCode = 0;
  /** bash stands where it may not: the next command changes back first. */
  goBack = false;
  #bash: SessionBash | undefined;
  #birth: Promise<SessionBash> | undefined;
  #reports: ReportFifo | undefined;
  #generation = 0;
  /** What the last bash left to the next. */
  #heritage: { readonly state: string | undefined; readonly prefix: string } = {
    state: undefined,
    prefix: "",
  };
  /** All that may have something running: every bash there was, and what was started from it. */
  readonly #shells = new Set<ShellProcess>();
  readonly #listening = new Set<SessionBash>();
  #closed = false;

  constructor(house: SessionHouse, id: string, options: SessionOptions) {
    this.#house = house;
    this.#id = id;
    this.#options = options;
    this.cwd = options.workingDir;
  }

  get bash(): SessionBash | undefined {
    return this.#bash?.isAlive ? this.#bash : undefined;
  }

  get hasBash(): boolean {
    return this.bash !== undefined || this.#birth !== undefined;
  }

  /** The one that takes the next command; `notes` hears what is new about it. */
  async current(
    notes: string[],
  ): Promise<{ readonly bash: SessionBash; readonly died: SessionBash | undefined }> {
    const { bash } = this;
    if (bash) return { bash, died: undefined };
    // It ended between two commands: what it saved last is the state.
    const died = this.#bash;
    if (died) this.end(died, this.number);
    await died?.close();
    const directory = nearestDirectory(this.cwd);
    if (directory !== this.cwd) {
      notes.push(goneDirectoryNote(this.cwd, directory));
      this.cwd = directory;
    }
    return { bash: await (this.#birth ?? this.#bear()), died };
  }

  /** The next bash, before it is asked for. */
  prepare(): void {
    if (this.#closed || this.hasBash || nearestDirectory(this.cwd) !== this.cwd) return;
    // Whoever needs it hears what is wrong.
    this.#bear().catch(() => {});
  }

  /** This bash is over, or goes on without the session; `number` is the last command whose state counts. */
  end(bash: SessionBash, number: number): void {
    if (this.#bash !== bash) return;
    this.#bash = undefined;
    // One that never came to take commands has nothing to leave but what it was given.
    if (!bash.isBorn) return;
    this.#heritage = {
      state: readState(bash.started.files.dir, number, this.nonce),
      // Kept off: each would end the new bash at the next mistake, or trace all it does.
      prefix: prefixOf(bash.flags.replace(/[eux]/g, ""), bash.traps),
    };
  }

  /** Without the state, which the last bash has died of. */
  forgetState(): void {
    this.#heritage = { state: undefined, prefix: "" };
  }

  /** What a command is preceded by, so that it finds the options and traps it left. */
  prefixFor(bash: SessionBash): string {
    return bash.flags === "" && bash.traps === "" ? bash.inheritedPrefix : prefixOf(bash.flags, bash.traps);
  }

  /** Its state after the last command that has ended: of the bash, or for the one to come. */
  async savedState(): Promise<string | undefined> {
    const { bash } = this;
    if (!bash?.isBorn) return this.#heritage.state;
    await bash.saved(this.doneNumber);
    return readState(bash.started.files.dir, this.doneNumber, this.nonce) ?? this.#heritage.state;
  }

  get hasHeritage(): boolean {
    return this.#heritage.state !== undefined;
  }

  /** The bash goes on as a shell of its own and takes its fifo with it. */
  part(bash: SessionBash, shell: ShellProcess): void {
    this.end(bash, this.number - 1);
    this.#reports = undefined;
    this.track(shell);
    bash.becomeShell(shell);
  }

  /** Ends with the session. */
  track(shell: ShellProcess): void {
    this.#shells.add(shell);
    if (this.#shells.size > SESSION_SHELLS_MAX_COUNT) void this.#prune();
  }

  /** Ends every bash there was, and everything they and their commands started. One look for all. */
  async endAll(cause: Cause, graceMs: number): Promise<KillReport> {
    await this.#birth?.catch(() => {});
    const shells = [...this.#shells];
    const targets = shells.map((shell) => shell.toKill(cause));
    const reports = await endShells(this.#house.host, targets, graceMs);
    for (const shell of shells) this.#shells.delete(shell);
    const bash = this.#bash;
    this.#bash = undefined;
    await bash?.close();
    return {
      signalled: [...reports.values()].flatMap(({ signalled }) => signalled),
      survivors: [...reports.values()].flatMap(({ survivors }) => survivors),
    };
  }

  close(): void {
    this.#closed = true;
    this.#reports?.close();
    this.#reports = undefined;
  }

  /** Starts anew: nothing of before is left. */
  reset(): void {
    this.forgetState();
    this.cwd = this.#options.workingDir;
    this.lastCode = 0;
  }

  #bear(): Promise<SessionBash> {
    this.#birth = this.#bearNow().finally(() => {
      this.#birth = undefined;
    });
    return this.#birth;
  }

  async #bearNow(): Promise<SessionBash> {
    if (this.#closed) throw new NacreError("invalid_input", `The session ${this.#id} has been closed.`);
    checkWorkingDir(this.cwd, undefined);
    const reader = new ReportReader((report) => {
      for (const bash of this.#listening) bash.take(report);
    });
    this.#reports ??= await this.#house.host.openReports((bytes) => reader.push(bytes));
    const reports = this.#reports;
    const { state, prefix } = this.#heritage;
    const isFirst = this.#generation++ === 0;
    const bash = await bearBash(this.#house, {
      sessionId: this.#id,
      scope: this.#options.scope ?? "default",
      nonce: this.nonce,
      token: `${this.nonce}.${this.#generation}`,
      workingDir: this.cwd,
      reports,
      number: this.number,
      state,
      inheritedPrefix: prefix,
      profile: isFirst ? this.#options.profile : undefined,
      onBirth: (newborn) => this.#listening.add(newborn),
      onEnd: (ended) => this.#forget(ended),
    });
    this.track(bash.shell);
    this.#bash = bash;
    return bash;
  }

  #forget(bash: SessionBash): void {
    this.#listening.delete(bash);
    this.#house.unwatch(bash.shell);
    if (bash.reports !== this.#reports) bash.reports.close();
  }

  /** Those that have ended and left nothing running. */
  async #prune(): Promise<void> {
    const ended = [...this.#shells].filter((shell) => !shell.isRunning);
    const found = await this.#house.host.processesOf(ended.map(({ started }) => started));
    for (const shell of ended) {
      if ((found.get(shell.started)?.length ?? 0) > 0) continue;
      this.#shells.delete(shell);
      this.#house.host.release(shell.started);
    }
  }
}

function prefixOf(flags: string, traps: string): string {
  const on = flags.replace(/[^aeuvx]/g, "");
  return `${on === "" ? "" : `\\builtin set -${on};`}${traps}`;
}
