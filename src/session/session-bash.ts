// One bash of a session: takes commands through its script channel and tells how each ended, or that the
// bash itself has. Which bash comes after it, and with what state, is the session's business.
import { readFileSync, readlinkSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { ExitRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import { Logger } from "../engine/logger.ts";
import type { ReportFifo } from "../engine/report-fifo.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import type { Outcome } from "../shell/outcome.ts";
import { confinementRemarks } from "../shell/remarks.ts";
import { ShellProcess } from "../shell/shell-process.ts";
import { attempt } from "../support/attempt.ts";
import {
  WATCHDOG_EXIT_MS,
  WATCHDOG_FIRST_MS,
  WATCHDOG_INTERVAL_MS,
  WATCHDOG_LOOK_MS,
  WATCHDOG_LOOKS_COUNT,
} from "../support/limits.ts";
import { bashRecord } from "./published.ts";
import { SavedStates } from "./saved-states.ts";
import {
  type CommandPlan,
  commandMessage,
  exitMessage,
  HARNESS_BUILTINS,
  type HarnessPlace,
  HIGH_FDS_MIN_LIMIT,
  type PutAside,
  saveMessage,
} from "./session-harness.ts";
import type { MeaningReport } from "./session-meaning.ts";
import { SessionOutput } from "./session-output.ts";
import type { Report } from "./session-reports.ts";
import type { SessionWorld } from "./session-world.ts";

export type Ending =
  | {
      readonly kind: "ran";
      readonly code: number;
      readonly cwd: string;
      /** What the next command means now, if this one can have changed it. */
      readonly meaning: MeaningReport | undefined;
    }
  /**
   * The bash is over. `taken`: it had read the command, which was run. `wedged`: it had stopped taking the
   * harness.
   */
  | { readonly kind: "ended"; readonly outcome: Outcome; readonly taken: boolean; readonly wedged: boolean };

export interface SessionBashOptions {
  readonly host: Engine;
  readonly started: StartedShell;
  readonly place: HarnessPlace;
  /** Its own; in a sandbox they are its world's. */
  readonly reports: ReportFifo | undefined;
  readonly capBytes: number;
  /** The sandbox it is in, with others before and after it. */
  readonly world: SessionWorld | undefined;
  /** Remarks on what its limits have done since the last look. */
  readonly look: () => string[];
  /** What its first command is preceded by: options and traps of the bash before. */
  readonly inheritedPrefix: string;
  /** The state it was born with, of the bash before, and the command that was the last before it. */
  readonly inherited: { readonly state: string; readonly number: number } | undefined;
  readonly putAside: PutAside;
  /** What it was to source at its birth. */
  readonly profile: string | undefined;
  readonly onEnd: (bash: SessionBash) => void;
  /** Kills it, and what the command has running that it is stuck in. */
  readonly kill: (number: number) => void;
}

export class SessionBash {
  readonly started: StartedShell;
  readonly shell: ShellProcess;
  readonly output: SessionOutput;
  readonly place: HarnessPlace;
  readonly reports: ReportFifo | undefined;
  readonly world: SessionWorld | undefined;
  readonly look: () => string[];
  /** It takes commands: whatever it was given to restore is restored. */
  isBorn = false;
  /** Its profile took too long, which has ended it. */
  isOverdue = false;
  readonly inheritedPrefix: string;
  /** As the last command left it. */
  putAside: PutAside;
  /** It has lost builtins that the harness needs. */
  isBroken = false;
  /** Until it is known what of it was not taken over. */
  inherited: SessionBashOptions["inherited"];
  readonly profile: string | undefined;
  /** `$-` after the last command. */
  flags = "";
  /** Traps that are off between commands. */
  traps = "";
  #over = false;
  #isSent = false;
  /** Of its script, so far. */
  #lines = 0;
  /** What saves the state after the command that runs, and after the one that has ended. */
  #save = "";
  #plan: CommandPlan | undefined;
  #unsaved: string | undefined;
  #lastNumber = 0;
  #wedged = false;
  /** Until a command may have changed the limit. */
  #reachesHighFds: boolean | undefined;
  readonly #kill: (number: number) => void;
  #heir: ShellProcess | undefined;
  readonly #onBirth: (() => void)[] = [];
  readonly states: SavedStates;
  #waiting: { readonly number: number; readonly resolve: (ending: Ending) => void } | undefined;
  #firstLook: NodeJS.Timeout | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  constructor(options: SessionBashOptions) {
    const { host, started, capBytes } = options;
    this.#kill = options.kill;
    this.inheritedPrefix = options.inheritedPrefix;
    this.inherited = options.inherited;
    this.putAside = options.putAside;
    this.profile = options.profile;
    this.started = started;
    this.place = options.place;
    this.reports = options.reports;
    this.world = options.world;
    this.look = options.look;
    this.shell = new ShellProcess({
      processes: host,
      started,
      command: "bash",
      onEnd: () => {
        this.#ended();
        options.onEnd(this);
      },
    });
    this.states = new SavedStates(this.scratch, options.place.nonce, options.inherited);
    const { files, loggers } = started;
    this.output = new SessionOutput({
      host: this.world?.room ?? host,
      dir: files.dir,
      capBytes,
      earlier: this.world?.earlierOutput,
      endWithBash: this.world === undefined,
      loggers: {
        stdout: new Logger(loggers?.stdout ?? 0, files.stdout),
        stderr: new Logger(loggers?.stderr ?? 0, files.stderr),
      },
    });
  }

  /** Where it writes what it keeps, its state for one; and where it finds what it is given. */
  get scratch(): string {
    return this.world?.scratch ?? this.started.files.dir;
  }

  get given(): string {
    return this.world?.room.path ?? this.started.files.dir;
  }

  /** The shell that others would know it by. */
  get outerShell(): ShellProcess {
    return this.world?.shell ?? this.shell;
  }

  /** As far as was told: asking the system takes its time. */
  get isAlive(): boolean {
    return !this.#over;
  }

  /** The shim has told how it ended. */
  conclude(record: ExitRecord): void {
    this.output.record(record);
    if (!this.#heir) this.shell.conclude(record);
    else if (!this.#over) void this.#concludeHeir(this.#heir, record);
  }

  /** What the command that ended it should know of the end, besides the code. */
  get remarks(): readonly string[] {
    return this.output.isInExitRecord ? this.shell.remarks : confinementRemarks(this.started);
  }

  /** No shim waits for loggers that it has not started: first everything is on disk, then it has ended. */
  async #concludeHeir(heir: ShellProcess, record: ExitRecord): Promise<void> {
    this.#over = true;
    if (!this.output.isInExitRecord) heir.remark(...(await this.output.drainLast()));
    const truncated: string[] = [];
    this.output.parts(truncated);
    heir.remark(...truncated);
    this.shell.conclude(record);
    heir.conclude(record);
    await this.close();
  }

  /** The line of its script that the next command will be in. */
  get nextLine(): number {
    return this.#lines + (this.#unsaved === undefined ? 1 : 2);
  }

  send(message: string): void {
    this.#lines++;
    this.started.channel?.send(message);
  }

  /** Whether its limit on open files leaves room for the descriptors of the harness. */
  get reachesHighFds(): boolean {
    this.#reachesHighFds ??= openFilesLimit(this.started.commandPid) >= HIGH_FDS_MIN_LIMIT;
    return this.#reachesHighFds;
  }

  /** Sends a command and waits for its end. */
  run(plan: CommandPlan): Promise<Ending> {
    return new Promise((resolve) => {
      this.#waiting = { number: plan.number, resolve };
      this.#isSent = !this.#over;
      this.#lastNumber = plan.number;
      if (this.#over) {
        this.#ended();
        return;
      }
      this.save(commandMessage(this.place, plan));
      // Made while the command runs, sent when its result is out.
      this.#save = saveMessage(this.place, plan, plan.putAside);
      this.#plan = plan;
      if (plan.meaningChange === "everything" || plan.command.includes("limit"))
        this.#reachesHighFds = undefined;
      this.#watchSoon();
    });
  }

  /**
   * Saves the state after the last command, if it has not been, and goes on with the message. Not when the
   * command reports: bash would take the processor that makes the result of it.
   */
  save(message = ""): void {
    const unsaved = this.#unsaved;
    this.#unsaved = undefined;
    if (unsaved !== undefined && message !== "") this.#lines++;
    if (unsaved !== undefined || message !== "") this.send(`${unsaved ?? ""}${message}`);
  }

  /** Its command goes on as a shell of its own: when that is done, this bash is, too. */
  becomeShell(shell: ShellProcess): void {
    this.#heir = shell;
    this.#settle();
    this.send(exitMessage(this.place));
    this.started.channel?.end();
    this.world?.end();
  }

  /** Ends it as the end of a script does: nothing is killed, and its EXIT trap runs. */
  finish(): void {
    this.save();
    this.started.channel?.end();
  }

  /** Gives up waiting for a bash that cannot be ended. */
  abandon(outcome: Outcome): void {
    this.#settle()?.({ kind: "ended", outcome, taken: true, wedged: this.#wedged });
  }

  /** Resolves with true when the state after this command was saved, or could not be; with false if it never will be. */
  async saved(number: number): Promise<boolean> {
    this.save();
    return await this.states.reported(number, () => this.isAlive);
  }

  /** Resolves when it takes commands, or never will. */
  async birth(): Promise<void> {
    if (this.isBorn || !this.isAlive) return;
    await new Promise<void>((resolve) => this.#onBirth.push(resolve));
  }

  take(report: Report): void {
    if (report.token !== this.place.token) return;
    switch (report.kind) {
      case "born":
        this.isBorn = true;
        if (this.profile !== undefined) this.#leave(report.expandsAliases, undefined);
        for (const tell of this.#onBirth.splice(0)) tell();
        break;
      case "ended":
        this.conclude(bashRecord({ exitCode: report.code }));
        break;
      case "saved":
        this.states.take(report.number, report.problem);
        break;
      case "ran": {
        this.flags = report.flags;
        this.traps = report.traps;
        this.isBroken = report.isBroken;
        this.#leave(report.expandsAliases, report.disabled);
        if (report.number !== this.#waiting?.number) break;
        this.#unsaved = this.isBroken ? undefined : this.#saveNow();
        const { code, cwd, meaning } = report;
        // The harness itself may have failed for want of descriptors.
        if (code !== 0) this.#reachesHighFds = undefined;
        this.#settle()?.({ kind: "ran", code, cwd, meaning });
        break;
      }
    }
  }

  /** What it holds open here. Its fifos and descriptors are not needed after its end. */
  async close(): Promise<void> {
    clearTimeout(this.#firstLook);
    this.started.channel?.close();
    await this.output.close();
  }

  #leave(expandsAliases: boolean, disabled = this.putAside.disabled): void {
    this.putAside = {
      expandsAliases,
      disabled: disabled.filter((name) => HARNESS_BUILTINS.includes(name)),
    };
  }

  /** Made before the command reported: what that has put aside is usually what it was. */
  #saveNow(): string {
    const plan = this.#plan;
    if (!plan || isDeepStrictEqual(plan.putAside, this.putAside)) return this.#save;
    return saveMessage(this.place, plan, this.putAside);
  }

  #settle(): ((ending: Ending) => void) | undefined {
    clearTimeout(this.#watchdog);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting?.resolve;
  }

  #ended(): void {
    this.#over = true;
    for (const tell of this.#onBirth.splice(0)) tell();
    this.states.wake();
    // A shim that was killed has reported nothing.
    this.started.channel?.close();
    const { outcome } = this.shell;
    // Its shim is gone, so no process watches it any more.
    if (outcome?.kind === "lost") {
      this.#kill(this.#lastNumber);
      if (this.#heir) void this.close();
    }
    // Its report that it is ready may still be on its way: what bash has read decides. A command must not run twice.
    const taken = this.#isSent && this.started.channel?.unreadBytes === 0;
    if (outcome) this.#settle()?.({ kind: "ended", outcome, taken, wedged: this.#wedged });
  }

  /**
   * A bash that reads its script while a command is outstanding has lost the harness: `set -n`, `enable -n`, a
   * function named builtin. Nothing a command does looks like that.
   */
  #watchSoon(): void {
    // One timer for all commands: most are over long before.
    if (this.#firstLook) {
      this.#firstLook.refresh();
      return;
    }
    this.#firstLook = setTimeout(() => {
      if (this.#waiting) this.#watch(0);
    }, WATCHDOG_FIRST_MS);
    this.#firstLook.unref();
  }

  #watch(inMs: number, agreeing = 0): void {
    this.#watchdog = setTimeout(() => {
      if (!this.#isLost()) this.#watch(WATCHDOG_INTERVAL_MS);
      else if (agreeing + 1 < WATCHDOG_LOOKS_COUNT) this.#watch(WATCHDOG_LOOK_MS, agreeing + 1);
      else this.#giveUp();
    }, inMs);
    this.#watchdog.unref();
  }

  #isLost(): boolean {
    const { commandPid, channel } = this.started;
    if (!channel?.isFlushed) return false;
    const call = attempt(() => readFileSync(`/proc/${commandPid}/syscall`, "latin1")) ?? "";
    // Its logger is gone: opening the pipe anew waits for a reader.
    if (/^(?:257|56) /.test(call)) return this.output.isAnyLoggerGone;
    if (!/^(?:0|63) 0x0 /.test(call)) return false;
    return attempt(() => readlinkSync(`/proc/${commandPid}/fd/0`)) === channel.link;
  }

  /** The end of the script makes any bash exit, and the code it exits with is the command's if it can be had. */
  #giveUp(): void {
    this.#wedged = true;
    this.send(exitMessage(this.place));
    this.started.channel?.end();
    this.#watchdog = setTimeout(() => this.#kill(this.#lastNumber), WATCHDOG_EXIT_MS);
  }
}

/** The soft limit of another process; 0 where the system does not tell. */
function openFilesLimit(pid: number): number {
  const limits = attempt(() => readFileSync(`/proc/${pid}/limits`, "latin1")) ?? "";
  const soft = /^Max open files\s+(\w+)/m.exec(limits)?.[1] ?? "0";
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}
