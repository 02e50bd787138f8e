// The bashes of a session, one after another: which one takes the next command, what it takes over from the
// one before, and everything any of them has left running.
import { randomBytes } from "node:crypto";
import type { Cause } from "../engine/end-record.ts";
import { endShells } from "../shell/kill.ts";
import type { KillReport } from "../shell/kill-report.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { checkWorkingDir } from "../shell/working-dir.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { RESTORE_CHECK_MAX_MS, SESSION_SHELLS_MAX_COUNT, STATE_SAVE_MAX_MS } from "../support/limits.ts";
import type { SessionBash } from "./session-bash.ts";
import { bearBash, sessionMeta } from "./session-birth.ts";
import { directoryOf, nearestDirectory, placeOf, standsInNothing } from "./session-directory.ts";
import type { Meaning } from "./session-meaning.ts";
import { goneDirectoryNote, type NextBash } from "./session-notes.ts";
import type { SavedSession, SessionHouse, SessionOptions } from "./session-options.ts";
import { type Report, ReportReader } from "./session-reports.ts";
import { differences } from "./session-restore.ts";
import { readStateOf } from "./session-state.ts";
import { SessionWorld } from "./session-world.ts";

export class Succession {
  readonly nonce: string;
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
  /** Somebody asked for a bash with nothing of what was before. */
  willStartAnew = false;
  /** What the next command means, as far as bash has state of its own; undefined before the first command. */
  meaning: Meaning | undefined;
  /** Where bash stood after the last command, as the system says. */
  place: string | undefined;
  #bash: SessionBash | undefined;
  #birth: Promise<SessionBash> | undefined;
  #world: SessionWorld | undefined;
  #generation = 0;
  #heritage: Heritage = NOTHING_LEFT;
  /** All that may have something running: every bash there was, and what was started from it. */
  readonly #shells = new Set<ShellProcess>();
  readonly #listening = new Set<SessionBash>();
  #closed = false;

  constructor(house: SessionHouse, id: string, options: SessionOptions) {
    this.#house = house;
    this.#id = id;
    this.#options = options;
    const { saved } = options;
    this.nonce = saved?.nonce ?? randomBytes(3).toString("hex");
    this.cwd = saved?.cwd ?? options.workingDir;
    if (saved) this.#heritage = { ...NOTHING_LEFT, state: saved.state, prefix: saved.prefix };
    this.meaning = saved?.meaning;
  }

  /** What a sandbox lets its commands write to, where the manager names nothing else. */
  get workspace(): string {
    return this.#options.workingDir;
  }

  get bash(): SessionBash | undefined {
    return this.#bash?.isAlive ? this.#bash : undefined;
  }

  /** Where the next command runs: another process may have renamed or removed the directory since the last one. */
  get directory(): string {
    const { bash } = this;
    if (!bash?.isBorn) return this.#nearest();
    const pid = bash.started.commandPid;
    const place = placeOf(pid);
    if (this.goBack || place === undefined || place === this.place) return this.cwd;
    return standsInNothing(pid) ? nearestDirectory(this.cwd) : (directoryOf(pid, this.cwd) ?? this.cwd);
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
    const directory = this.#nearest();
    if (directory !== this.cwd) {
      notes.push(goneDirectoryNote(this.cwd, directory));
      this.cwd = directory;
    }
    return { bash: await (this.#birth ?? this.#bear()), died };
  }

  /** The next bash, before it is asked for. */
  prepare(): void {
    if (this.#closed || this.hasBash || this.#nearest() !== this.cwd) return;
    // Whoever needs it hears what is wrong.
    this.#bear().catch(() => {});
  }

  /** What a new bash has not taken over of the state it was given, in words. Asked once; compares what both have saved. */
  async unrestored(bash: SessionBash): Promise<string[]> {
    const { inherited } = bash;
    if (!inherited) return [];
    await bash.saved(inherited.number);
    // Asked by another call meanwhile, or it died at once: whoever finds it dead tells of that.
    if (!bash.inherited || !bash.isBorn) return [];
    bash.inherited = undefined;
    const state = readStateOf(bash.scratch, inherited.number, this.nonce);
    return state === undefined ? [] : differences(inherited.state, state, this.nonce);
  }

  /** The same of the bash that is to come, if it comes soon. */
  async unrestoredNext(): Promise<string[] | "unknown" | NacreError> {
    const birth = this.#birth;
    if (!birth) return "unknown";
    const known = birth.then((bash) => this.unrestored(bash)).catch(asError);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"unknown">((resolve) => {
      timer = setTimeout(() => resolve("unknown"), RESTORE_CHECK_MAX_MS);
    });
    return await Promise.race([known, late]).finally(() => clearTimeout(timer));
  }

  /** This bash is over, or goes on without the session; `number` is the last command whose state counts. */
  end(bash: SessionBash, number: number): void {
    if (this.#bash !== bash) return;
    this.#bash = undefined;
    // One that never came to take commands has nothing to leave but what it was given.
    if (!bash.isBorn) return;
    this.#heritage = this.#leftBy(bash, number);
    if (this.#heritage.state === undefined) this.meaning = undefined;
  }

  #leftBy(bash: SessionBash, number: number): Heritage {
    const newest = bash.states.newest(number);
    const commands = newest ? number - newest.number : 0;
    // One that died between two commands may not have come to save the last of them, which is said anyway.
    const why = bash.states.problem ?? (commands > 1 ? "its files are gone" : undefined);
    return {
      state: newest?.state,
      // Kept off: each would end the new bash at the next mistake, or trace all it does.
      prefix: prefixOf(bash.flags.replace(/[eux]/g, ""), bash.traps),
      ...(why === undefined ? {} : { missing: { commands, why } }),
    };
  }

  /** Without the state, which the last bash has died of. */
  forgetState(): void {
    this.#heritage = NOTHING_LEFT;
    this.meaning = undefined;
  }

  /** What a command is preceded by, so that it finds the options and traps it left. */
  prefixFor(bash: SessionBash): string {
    return bash.flags === "" && bash.traps === "" ? bash.inheritedPrefix : prefixOf(bash.flags, bash.traps);
  }

  /** Its state after the last command that has ended: of the bash, or for the one to come. */
  async savedState(): Promise<Heritage> {
    const bash = this.#bash;
    if (!bash?.isBorn) return this.#heritage;
    // It died between two commands. The next command ends it for good, and says so.
    if (!bash.isAlive) return this.#leftBy(bash, this.number);
    const isSaved = await bash.saved(this.doneNumber);
    const newest = bash.states.newest(this.doneNumber);
    const commands = newest ? this.doneNumber - newest.number : this.doneNumber;
    const late =
      isSaved || !bash.isAlive ? "its files are gone" : `bash took longer than ${STATE_SAVE_MAX_MS} ms`;
    return {
      state: newest?.state ?? this.#heritage.state,
      prefix: this.prefixFor(bash),
      ...(commands > 0 ? { missing: { commands, why: bash.states.problem ?? late } } : {}),
    };
  }

  /** For a session of another process; undefined before the first command. */
  async save(): Promise<SavedSession | undefined> {
    const { state, prefix } = await this.savedState();
    if (state === undefined) return undefined;
    const { cwd, nonce } = this;
    return { cwd, nonce, state, prefix, ...(this.meaning ? { meaning: this.meaning } : {}) };
  }

  /** Its profile is yet to be sourced. */
  get awaitsProfile(): boolean {
    return this.#generation === 0 && this.#options.profile !== undefined && !this.#options.saved;
  }

  /** What of the last commands is not in the state that the next bash gets. */
  get missing(): Heritage["missing"] {
    return this.#heritage.missing;
  }

  /** What comes after a bash that is over. */
  get next(): NextBash {
    if (this.#closed) return "none";
    if (this.willStartAnew) return "another";
    return this.#heritage.state === undefined ? "one without its state" : "its heir";
  }

  /** The bash goes on as a shell of its own. */
  part(bash: SessionBash, shell: ShellProcess): void {
    this.end(bash, this.number - 1);
    // With all that is in it: jobs, temporary files. The next bash gets a new one.
    if (bash.world === this.#world) this.#world = undefined;
    this.track(shell);
    bash.becomeShell(shell);
  }

  /** Ends with the session. */
  track(shell: ShellProcess): void {
    this.#shells.add(shell);
    if (this.#shells.size > SESSION_SHELLS_MAX_COUNT) void this.#prune();
  }

  /** No bash comes after the one there is. */
  seal(): void {
    this.#closed = true;
  }

  /**
   * Ends every bash there was, and everything they and their commands started. One look for all. Whoever reads what
   * its command has printed is waited for: `reading` is what that comes to.
   */
  async endAll(cause: Cause, graceMs: number, reading?: Promise<unknown>): Promise<KillReport> {
    // One that is about its profile is not waited for.
    for (const bash of this.#listening) if (!bash.isBorn) void bash.shell.end(cause, 0);
    await this.#birth?.catch(() => {});
    this.#world?.end();
    this.#world = undefined;
    const shells = [...this.#shells];
    const targets = shells.map((shell) => shell.toKill(cause));
    const reports = await endShells(this.#house.host, targets, graceMs);
    for (const shell of shells) this.#shells.delete(shell);
    const bash = this.#bash;
    // Every call returns, also one whose bash the kernel does not let go.
    if (bash?.isAlive) bash.abandon({ kind: "lost", reason: "it did not end after SIGKILL" });
    await reading?.catch(() => {});
    this.#bash = undefined;
    await bash?.close();
    return {
      signalled: [...reports.values()].flatMap(({ signalled }) => signalled),
      survivors: [...reports.values()].flatMap(({ survivors }) => survivors),
    };
  }

  close(): void {
    this.seal();
  }

  /** Starts anew: nothing of before is left. */
  reset(): void {
    this.forgetState();
    this.willStartAnew = false;
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
    const isSandboxed = await this.#house.confiner.isEnforced(this.workspace);
    const world = isSandboxed ? await this.#openWorld() : undefined;
    if (!world) checkWorkingDir(this.cwd, undefined);
    const reader = this.#reader();
    const { state, prefix } = this.#heritage;
    const isFirst = this.#generation++ === 0;
    const bash = await bearBash(this.#house, {
      sessionId: this.#id,
      scope: this.#options.scope ?? "default",
      nonce: this.nonce,
      token: `${this.nonce}.${this.#generation}`,
      workingDir: this.cwd,
      onReportBytes: (bytes) => reader.push(bytes),
      number: this.number,
      state,
      inheritedPrefix: prefix,
      profile: isFirst ? this.#options.profile : undefined,
      profileTimeoutMs: this.#options.profileTimeoutMs,
      workspace: this.workspace,
      world,
      onBirth: (newborn) => this.#listening.add(newborn),
      onEnd: (ended) => this.#forget(ended),
    });
    this.track(bash.shell);
    this.#bash = bash;
    return bash;
  }

  /** The sandbox there is, or a new one. */
  async #openWorld(): Promise<SessionWorld> {
    if (this.#world?.isOpen) return this.#world;
    const { host, confiner, capBytes } = this.#house;
    const { workspace } = this;
    // What it had in a /tmp of its own is gone with that.
    if (!confiner.isSeen(this.cwd, workspace)) this.cwd = workspace;
    checkWorkingDir(this.cwd, undefined);
    const reader = this.#reader((report) => world.take(report));
    const options = { workingDir: this.cwd, scope: this.#options.scope ?? "default", sessionId: this.#id };
    const world = await SessionWorld.open({
      host,
      confiner,
      workspace,
      workingDir: this.cwd,
      capBytes,
      meta: (id) => sessionMeta(id, this.#house, options),
      onReportBytes: (bytes) => reader.push(bytes),
      onEnd: (shell) => this.#house.unwatch(shell),
    });
    this.#house.watch(world.shell);
    this.#world = world;
    return world;
  }

  #reader(also: (report: Report) => void = () => {}): ReportReader {
    return new ReportReader((report) => {
      also(report);
      for (const bash of this.#listening) bash.take(report);
    });
  }

  /** Where the next bash can stand. What is in a sandbox that is still there is not to be seen from here. */
  #nearest(): string {
    return this.#world?.isOpen ? this.cwd : nearestDirectory(this.cwd);
  }

  #forget(bash: SessionBash): void {
    this.#listening.delete(bash);
    this.#house.unwatch(bash.shell);
    bash.reports?.close();
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

/** What a bash leaves to the next one. */
interface Heritage {
  readonly state: string | undefined;
  readonly prefix: string;
  /** The last commands whose state could not be saved, if any, and why. */
  readonly missing?: { readonly commands: number; readonly why: string };
}

const NOTHING_LEFT: Heritage = { state: undefined, prefix: "" };

function asError(thrown: unknown): NacreError {
  return thrown instanceof NacreError
    ? thrown
    : new NacreError("internal", messageOf(thrown), { cause: thrown });
}

function prefixOf(flags: string, traps: string): string {
  const on = flags.replace(/[^aeuvx]/g, "");
  return `${on === "" ? "" : `\\builtin set -${on};`}${traps}`;
}
