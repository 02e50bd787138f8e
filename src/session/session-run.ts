// One command in a session, from the bash that takes it to the result: where it runs, what it printed, what
// it left, and what became of the bash.
import { dirname, join } from "node:path";
import { isDiskFull } from "../engine/disk-space.ts";
import { isNoneSince, markPids, NO_PIDS } from "../engine/pids-since.ts";
import { SESSION_NAMES, StateRoot } from "../engine/state-dir.ts";
import type { StreamName } from "../shell/follow-output.ts";
import { spoolFullRemark } from "../shell/lost-output.ts";
import { codeOf, fromCode, type Outcome } from "../shell/outcome.ts";
import { isWithinRoots } from "../shell/working-dir.ts";
import { monotonicMs } from "../support/clock.ts";
import { messageOf } from "../support/errors.ts";
import { isFull } from "../support/system-error.ts";
import { type CommandLeftovers, leftoversOfCommand } from "./command-processes.ts";
import type { Ending, SessionBash } from "./session-bash.ts";
import { SessionCommand } from "./session-command.ts";
import { directoryOf, nearestDirectory, placeOf, standsInNothing } from "./session-directory.ts";
import { type CommandPlan, linesBefore, type NewOutputs } from "./session-harness.ts";
import { meaningAfter, meaningChange } from "./session-meaning.ts";
import * as say from "./session-notes.ts";
import type { PublishedBash, RunOptions, SessionHouse, SessionResult } from "./session-options.ts";
import { stateFile } from "./session-state.ts";
import type { Succession } from "./session-succession.ts";
import { isUnterminated } from "./session-syntax.ts";

export interface SessionPlace {
  readonly house: SessionHouse;
  readonly succession: Succession;
  /** A directory to change to before the command. */
  readonly changeTo: string | undefined;
  /** Called with the command while it runs. */
  readonly onRunning: (running: SessionCommand | undefined) => void;
}

type Remarks = Pick<SessionResult, "restarted"> & { notes: string[] };
type Rest = Pick<SessionResult, "exitCode" | "outcome" | "stdout" | "stderr"> &
  Partial<Pick<SessionResult, "leftovers" | "shell" | "remains">>;

export class Run {
  readonly #place: SessionPlace;
  readonly #command: string;
  readonly #options: RunOptions;
  readonly #bash: SessionBash;
  readonly #number: number;
  readonly #cwdBefore: string;
  readonly #notes: string[];
  #restarted: boolean;
  #firstLine = 1;
  #startedMs = 0;
  #durationMs = 0;
  #pidsBefore = NO_PIDS;

  constructor(
    place: SessionPlace,
    command: string,
    options: RunOptions,
    bash: SessionBash,
    remarks: Remarks,
  ) {
    this.#place = place;
    this.#command = command;
    this.#options = options;
    this.#bash = bash;
    this.#number = ++place.succession.number;
    this.#cwdBefore = place.succession.cwd;
    this.#notes = remarks.notes;
    this.#restarted = remarks.restarted;
  }

  /** undefined where the bash has died before it took the command. */
  async result(): Promise<SessionResult | undefined> {
    const { house, succession, onRunning } = this.#place;
    this.#restoreBefore();
    const plan = this.#plan(this.#directory(), await this.#outputs());
    this.#options.onStart?.(this.#bash.output.starting());
    this.#pidsBefore = markPids();
    this.#startedMs = monotonicMs();
    const running = new SessionCommand({
      number: this.#number,
      bash: this.#bash,
      host: house.host,
      graceMs: house.killGraceMs,
      plan,
      pidsBefore: this.#pidsBefore,
    });
    onRunning(running);
    const ending = await running.end(this.#options);
    onRunning(undefined);
    succession.doneNumber = this.#number;
    this.#notes.push(...running.survivors.map(say.survivorNote), ...this.#bash.look(), ...this.#unsaved());
    this.#durationMs = monotonicMs() - this.#startedMs;
    switch (ending.kind) {
      case "left":
        return this.#wentOn();
      case "ran":
        return await this.#ran(ending, ending.interrupted);
      case "ended":
        return await this.#ended(ending, ending.interrupted);
    }
  }

  /** Told with the command after the one whose state could not be saved, which is done when its result is out. */
  #unsaved(): string[] {
    const why = this.#bash.states.takeProblem();
    const dir = this.#bash.scratch;
    return why === undefined ? [] : [say.unsavedNote(dir, why, isDiskFull(dir))];
  }

  #plan(changeTo: string | undefined, outputs: NewOutputs | undefined): CommandPlan {
    const { succession } = this.#place;
    const prefix = succession.prefixFor(this.#bash);
    const { putAside } = this.#bash;
    const plan: CommandPlan = {
      number: this.#number,
      command: this.#command,
      statePath: stateFile(this.#bash.scratch, this.#number),
      lastCode: succession.lastCode,
      prefix,
      putAside,
      changeTo,
      env: this.#options.env ?? {},
      hiddenPath: join(this.#bash.scratch, SESSION_NAMES.hidden),
      outputs,
      hasHighFds: this.#bash.reachesHighFds && !succession.meaning?.facts.functions.includes("exec"),
      // The harness has to enable its builtins again afterwards.
      meaningChange:
        putAside.disabled.length > 0 ? "everything" : meaningChange(this.#command, succession.meaning),
    };
    this.#firstLine = this.#bash.nextLine + linesBefore(plan);
    return plan;
  }

  /** Where bash is to go first: where it was told, or out of a directory that is gone. */
  #directory(): string | undefined {
    const { succession, changeTo } = this.#place;
    if (changeTo !== undefined) {
      succession.cwd = changeTo;
      return changeTo;
    }
    // One that was just born stands where it was told to.
    if (!this.#bash.isBorn || !standsInNothing(this.#bash.started.commandPid)) return undefined;
    const instead = nearestDirectory(succession.cwd);
    this.#notes.push(say.goneDirectoryNote(succession.cwd, instead));
    succession.cwd = instead;
    return instead;
  }

  /** Without its directory the output could not be read. A command that cannot have one is refused, not run. */
  #restoreBefore(): void {
    const { files } = this.#bash.started;
    try {
      this.#restored(this.#bash.output.restoreFiles());
    } catch (cause) {
      new StateRoot(dirname(dirname(files.dir))).ensure();
      // The command itself may be what makes space; other loggers write for it.
      if (!isFull(cause)) throw cause;
      this.#notes.push(say.lostFilesNote(files.dir, messageOf(cause)));
    }
  }

  /** The command may have removed it, or another process meanwhile. It ran all the same. */
  #restoreAfter(): void {
    const { dir } = this.#bash.started.files;
    try {
      this.#restored(this.#bash.output.restoreFiles());
    } catch (cause) {
      this.#notes.push(say.lostSpoolNote(dir, messageOf(cause)));
    }
  }

  #restored(what: "directory" | "files" | undefined): void {
    const { dir } = this.#bash.started.files;
    if (what === "directory") this.#notes.push(say.removedSpoolNote(dir));
    if (what === "files") this.#notes.push(say.removedFilesNote(dir));
  }

  async #outputs(): Promise<NewOutputs | undefined> {
    try {
      return await this.#bash.output.begin(this.#bash.started.commandPid);
    } catch (cause) {
      const { output, started } = this.#bash;
      const instead = output.instead(started.commandPid);
      const { dir } = started.files;
      if (!instead) this.#notes.push(say.mixedNote());
      else this.#notes.push(isDiskFull(dir) ? spoolFullRemark(dir) : say.discardedNote(messageOf(cause)));
      return instead;
    }
  }

  async #ran({ code, cwd, meaning }: Ending & { kind: "ran" }, interrupted: boolean): Promise<SessionResult> {
    const { house, succession } = this.#place;
    const meaningBefore = succession.meaning;
    if (meaning) succession.meaning = meaningAfter(meaning, this.#options.env ?? {}, meaningBefore);
    const { started, output } = this.#bash;
    const isSwitched = output.settle(started.commandPid);
    if (this.#bash.inherited)
      this.#notes.push(...say.unrestoredNotes(await succession.unrestored(this.#bash)));
    const left = await this.#leftovers();
    this.#notes.push(...(await output.drain()));
    this.#restoreAfter();
    const { files, from } = output;
    const parts = output.parts(this.#notes);
    if (left.holdsOutput) output.exchange();
    // When whoever waits for the result has it.
    setImmediate(() => this.#bash.save());
    succession.lastCode = code;
    this.#moved(cwd);
    // It does not follow the harness: `exec` is a function of the user's, say, or a builtin is gone.
    if (!isSwitched || this.#bash.isBroken) {
      succession.meaning = meaningBefore;
      await this.#replace(this.#number - 1);
    } else if (code === 2 && (await isUnterminated(this.#command, house, succession.workspace)))
      await this.#replace(this.#number);
    return this.#finish({
      exitCode: code,
      outcome: interrupted ? { kind: "aborted", code } : fromCode(code),
      ...parts,
      // What holds the files goes on printing to them.
      ...this.#remains(left, () => (left.holdsOutput ? { files, from } : output.alone(parts)), code),
    });
  }

  async #ended(
    { outcome, taken, wedged }: Ending & { kind: "ended" },
    interrupted: boolean,
  ): Promise<SessionResult | undefined> {
    const { succession } = this.#place;
    const bash = this.#bash;
    succession.end(bash, this.#number - 1);
    if (!taken && !interrupted && (isByItself(outcome) || bash.isOverdue)) {
      await bash.close();
      return undefined;
    }
    bash.output.settle(undefined);
    const left = isByItself(outcome) ? await this.#leftovers() : NOTHING_LEFT;
    this.#notes.push(...(await bash.output.drainLast()), ...bash.remarks);
    // The shim does that for its own loggers.
    if (!bash.output.isInExitRecord) this.#restoreAfter();
    const { files, from } = bash.output;
    const parts = bash.output.parts(this.#notes);
    await bash.close();
    const code = codeOf(outcome);
    succession.lastCode = code ?? 0;
    succession.cwd = this.#cwdBefore;
    await this.#restart(wedged);
    const aborted: Outcome = { kind: "aborted", code: code ?? 130 };
    return this.#finish({
      exitCode: code,
      outcome: interrupted ? aborted : outcome,
      ...parts,
      ...this.#remains(left, () => ({ files, from }), code ?? 0),
    });
  }

  async #leftovers(): Promise<CommandLeftovers> {
    if (isNoneSince(this.#pidsBefore)) return NOTHING_LEFT;
    const { started, output } = this.#bash;
    const which = { pidsBefore: this.#pidsBefore, number: this.#number, output };
    return await leftoversOfCommand(this.#place.house.host, started, which);
  }

  /** What it left running, and the shell to end that by. */
  #remains(
    { processes }: CommandLeftovers,
    where: () => Pick<PublishedBash, "files" | "from">,
    exitCode: number,
  ): Partial<Pick<SessionResult, "leftovers" | "remains">> {
    if (processes.length === 0) return {};
    const remains = this.#place.house.publishRemains({
      ...where(),
      bash: this.#bash.shell,
      command: this.#command,
      number: this.#number,
      exitCode,
      durationMs: this.#durationMs,
    });
    return { remains, leftovers: processes.map(({ pid, command }) => ({ pid, command })) };
  }

  /** The bash becomes a shell like any other; the session goes on with a new one. */
  #wentOn(): SessionResult {
    const { house, succession } = this.#place;
    const bash = this.#bash;
    bash.output.settle(undefined);
    const parts = bash.output.parts(this.#notes);
    const shell = house.publish({
      bash: bash.outerShell,
      command: this.#command,
      files: bash.output.files,
      from: bash.output.from,
      durationMs: this.#durationMs,
      ...this.#deadline(),
    });
    succession.part(bash, shell);
    succession.cwd = this.#cwdBefore;
    this.#restarted = true;
    this.#notes.push(say.wentOnNote(shell.id));
    succession.prepare();
    return this.#finish({ exitCode: null, outcome: undefined, ...parts, shell });
  }

  /** A command that goes on keeps the timeout that it would have been killed at. */
  #deadline(): Pick<PublishedBash, "deadline"> {
    const { timeoutMs, onTimeout } = this.#options;
    if (timeoutMs === undefined || onTimeout === "background") return {};
    return { deadline: { timeoutMs, leftMs: this.#startedMs + timeoutMs - monotonicMs() } };
  }

  /** `number`: the last command whose state counts. */
  async #replace(number: number): Promise<void> {
    const { succession } = this.#place;
    const bash = this.#bash;
    bash.finish();
    await bash.shell.waitUntil({ exit: true }, this.#place.house.killGraceMs);
    if (bash.isAlive) await bash.shell.end({ kind: "killed", detail: "the session" }, 0);
    succession.end(bash, number);
    await bash.close();
    await this.#restart(true);
  }

  async #restart(wedged: boolean): Promise<void> {
    const { succession } = this.#place;
    const { next } = succession;
    if (next !== "none") this.#restarted = true;
    this.#notes.push(...say.restartedNotes({ wedged, next }), ...say.staleNotes(succession.missing));
    succession.prepare();
    if (next === "its heir") this.#notes.push(...say.unrestoredNotes(await succession.unrestoredNext()));
  }

  /** Takes note of where bash says it is. */
  #moved(cwd: string): void {
    const { house, succession } = this.#place;
    const { commandPid } = this.#bash.started;
    // That PWD is what it was says nothing: it may be readonly, or set.
    const place = placeOf(commandPid);
    if (cwd === succession.cwd && place === succession.place) return;
    succession.place = undefined;
    const real = directoryOf(commandPid, cwd);
    if (real === undefined) return;
    if (house.allowedRoots && !isWithinRoots(real, house.allowedRoots)) {
      this.#notes.push(say.outsideNote(real, succession.cwd));
      succession.goBack = true;
      return;
    }
    succession.cwd = real;
    succession.place = place;
  }

  #finish(rest: Rest): SessionResult {
    const { cwd } = this.#place.succession;
    const { output } = this.#bash;
    const owned: Partial<Record<StreamName, string>> = {};
    return {
      command: this.#command,
      leftovers: [],
      ...rest,
      cwd,
      cwdChanged: cwd !== this.#cwdBefore,
      restarted: this.#restarted,
      notes: this.#notes,
      durationMs: Math.round(this.#durationMs * 1000) / 1000,
      firstLine: this.#firstLine,
      confinement: this.#bash.started.meta.confinement,
      fileOf: (stream) => {
        owned[stream] ??= output.fileOf(rest[stream]);
        return owned[stream];
      },
    };
  }
}

function isByItself({ kind }: Outcome): boolean {
  return kind === "exited" || kind === "signaled" || kind === "failedToStart" || kind === "lost";
}

const NOTHING_LEFT: CommandLeftovers = { processes: [], holdsOutput: false };
