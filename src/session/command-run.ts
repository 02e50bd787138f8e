// One command in one bash of a session, from its plan to its result:
//   planCommand         files, directory, loggers, message (command-plan.ts)
//   RunningCommand      sends the command, waits for its report, its timeout or the call's end (running-command.ts)
//   #ran                bash can run another command: leftovers, drain, output, state; #finish makes the result
//   #bashEnded          bash ended with the command: the same steps, and a successor for bash
//   #detached           the command continues in its bash as a background shell, and bash gets a successor
import { isDiskFull } from "../engine/disk-space.ts";
import type { Cause } from "../engine/end-record.ts";
import { labelOf } from "../engine/meta.ts";
import { isNoneSince, markPids, NO_PIDS } from "../engine/pids-since.ts";
import type { ProcessRef } from "../engine/process-table.ts";
import type { StreamName } from "../shell/follow-output.ts";
import { codeOf, fromCode, type Outcome } from "../shell/outcome.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { monotonicMs } from "../support/clock.ts";
import { SYNTAX_CHECK_MAX_MS } from "../support/limits.ts";
import { planCommand, type RunContext, restoreAfter } from "./command-plan.ts";
import { type CommandLeftovers, leftoversOfCommand, onlyCommand } from "./command-processes.ts";
import { outputPlace } from "./detached-bash.ts";
import { RunningCommand } from "./running-command.ts";
import type { Ending } from "./session-bash.ts";
import { linesBefore } from "./session-harness.ts";
import * as note from "./session-notes.ts";
import type { DetachedBash, SessionDeps, SessionResult } from "./session-options.ts";

const NO_LEFTOVERS: CommandLeftovers = { processes: [], holdsOutput: false };

type ResultParts = Pick<SessionResult, "exitCode" | "stdout" | "stderr"> &
  // If there is no outcome, #finish derives one from the exit code.
  Partial<Pick<SessionResult, "outcome" | "leftovers" | "shell" | "leftoverShell">>;

export class CommandRun {
  readonly #context: RunContext;
  readonly #number: number;
  readonly #cwdBefore: string;
  readonly #notes: string[];
  #restarted: boolean;
  #running: RunningCommand | undefined;
  #firstLine = 1;
  #startedMs = 0;
  #durationMs = 0;
  #pidsBefore = NO_PIDS;
  /** Whether the command may have changed or renamed the directory of bash. */
  #mayHaveMoved = true;

  /** `restarted`: an earlier attempt found a dead bash. */
  constructor(context: RunContext, restarted: boolean) {
    this.#context = context;
    this.#notes = context.notes;
    this.#restarted = restarted;
    this.#cwdBefore = context.lineage.directory.cwd;
    this.#number = context.lineage.beginCommand();
  }

  /** Whether the command was sent and has not ended yet. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  async interrupt(): Promise<void> {
    await this.#running?.interrupt();
  }

  async kill(cause: Cause): Promise<void> {
    await this.#running?.kill(cause);
  }

  /** undefined if bash died before it read the command. */
  async result(): Promise<SessionResult | undefined> {
    const { deps, lineage, bash, options } = this.#context;
    const planned = planCommand(this.#context, this.#number);
    const plan = "then" in planned ? await planned : planned;
    this.#mayHaveMoved = plan.meaningChange !== "nothing" || plan.changeTo !== undefined;
    this.#firstLine = bash.nextLine + linesBefore(bash.options.harness, plan);
    options.onStart?.({ ...bash.output.starting, processes: () => this.#processes() });
    const pidsBefore = markPids();
    this.#pidsBefore = pidsBefore;
    this.#startedMs = monotonicMs();
    const running = new RunningCommand({ ...deps, bash, plan, pidsBefore });
    this.#running = running;
    const ending = await running.end(options);
    this.#running = undefined;
    this.#durationMs = monotonicMs() - this.#startedMs;
    lineage.endCommand(this.#number);
    this.#notes.push(...running.survivors.map(note.survivorNote), ...bash.takeRemarks());
    this.#noteUnsaved();
    switch (ending.kind) {
      case "detached":
        return await this.#detached();
      case "ran":
        return await this.#ran(ending, ending.interrupted);
      case "ended":
        return await this.#bashEnded(ending, ending.interrupted);
    }
  }

  /** bash saves its state after the result is complete, so the result of the next command reports a failed save. */
  #noteUnsaved(): void {
    const { state, scratch } = this.#context.bash;
    const why = state.saves.takeProblem();
    if (why !== undefined) this.#notes.push(note.unsavedNote(scratch, why, isDiskFull(scratch)));
  }

  async #ran({ code, cwd, meaning }: Ending & { kind: "ran" }, interrupted: boolean): Promise<SessionResult> {
    const { lineage, bash, options, command, deps } = this.#context;
    const { output, started } = bash;
    const isSwitched = output.settle(started.commandPid);
    const unrestored = await bash.state.takeUnrestored(bash);
    if (unrestored.length > 0) this.#notes.push(...note.unrestoredNotes(unrestored));
    const left = await this.#leftovers();
    // bash no longer follows the harness if a function is named `exec` or a builtin is missing.
    const isLost = !isSwitched || bash.state.isBroken;
    lineage.commandRan(code, isLost ? undefined : meaning, options.env);
    const outside = lineage.directory.settle(started.commandPid, cwd, this.#mayHaveMoved);
    // Drain as late as possible: the loggers have then usually written everything, so the drain need not wait.
    this.#notes.push(...(await output.drain()));
    restoreAfter(bash, this.#notes);
    const { files, from } = output;
    const parts = output.parts(this.#notes);
    if (left.holdsOutput) output.exchange();
    if (outside !== undefined) this.#notes.push(note.outsideNote(outside, lineage.directory.cwd));
    if (isLost || (code === 2 && (await isUnterminated(command, deps, lineage.workspace))))
      await this.#replaceBash();
    // Save only after the caller has the result.
    else setImmediate(() => bash.save());
    // Leftover processes that hold the pipes continue to print to these files.
    const where = () => (left.holdsOutput ? { files, from } : output.ownFiles(parts));
    return this.#finish({
      exitCode: code,
      ...(interrupted ? { outcome: { kind: "aborted", code } } : {}),
      ...parts,
      ...this.#leftoverParts(left, where, code),
    });
  }

  async #bashEnded(
    { outcome, taken, wedged }: Ending & { kind: "ended" },
    interrupted: boolean,
  ): Promise<SessionResult | undefined> {
    const { lineage, bash } = this.#context;
    const { output } = bash;
    await lineage.bashEnded(bash, this.#number - 1);
    if (!taken && !interrupted && (isByItself(outcome) || bash.isOverdue)) {
      await bash.close();
      return undefined;
    }
    output.settle(undefined);
    const left = isByItself(outcome) ? await this.#leftovers() : NO_LEFTOVERS;
    this.#notes.push(...(await output.drainLast()), ...bash.endRemarks);
    // The shim restores the files of the loggers that it has started, so restore only the files of other loggers.
    if (!output.isInExitRecord) restoreAfter(bash, this.#notes);
    const { files, from } = output;
    const parts = output.parts(this.#notes);
    await bash.close();
    const code = codeOf(outcome);
    lineage.rollBack(this.#cwdBefore, code ?? 0);
    await this.#startSuccessor(wedged);
    return this.#finish({
      exitCode: code,
      outcome: interrupted ? { kind: "aborted", code: code ?? 130 } : outcome,
      ...parts,
      ...this.#leftoverParts(left, () => ({ files, from }), code ?? 0),
    });
  }

  /** The command keeps its bash; the session gets a new one. */
  async #detached(): Promise<SessionResult> {
    const { deps, lineage, bash, command, options } = this.#context;
    const { output } = bash;
    output.settle(undefined);
    const parts = output.parts(this.#notes);
    const [{ files, from }, { timeoutMs, onTimeout }] = [output, options];
    // A command that continues in the background keeps its timeout, unless this timeout has moved it there.
    const deadline =
      timeoutMs === undefined || onTimeout === "background"
        ? {}
        : { deadline: { timeoutMs, leftMs: this.#startedMs + timeoutMs - monotonicMs() } };
    const durationMs = this.#durationMs;
    const outer = bash.options.sandbox?.shell ?? bash.shell;
    const shell = deps.addDetached({
      ...{ bash: outer, command, label: labelOf(options), files, from, durationMs },
      ...deadline,
    });
    await lineage.detach(bash, shell);
    lineage.directory.changeTo(this.#cwdBefore);
    this.#restarted = true;
    this.#notes.push(note.detachedNote(shell.id));
    lineage.prepareNext();
    return this.#finish({ exitCode: null, ...parts, shell });
  }

  async #processes(): Promise<readonly ProcessRef[]> {
    const { deps, bash } = this.#context;
    const part = { number: this.#number, pidsBefore: this.#pidsBefore };
    return (await onlyCommand(deps.engine, part).processesOf([bash.started])).get(bash.started) ?? [];
  }

  async #leftovers(): Promise<CommandLeftovers> {
    if (isNoneSince(this.#pidsBefore)) return NO_LEFTOVERS;
    // A program that the command started may have renamed the directory.
    this.#mayHaveMoved = true;
    const { deps, bash } = this.#context;
    const which = { pidsBefore: this.#pidsBefore, number: this.#number, output: bash.output };
    return await leftoversOfCommand(deps.engine, bash.started, which);
  }

  /** The processes that the command left running, and the shell that can kill them. `where` locates their output. */
  #leftoverParts(
    { processes }: CommandLeftovers,
    where: () => Pick<DetachedBash, "files" | "from">,
    exitCode: number,
  ): Partial<Pick<SessionResult, "leftovers" | "leftoverShell">> {
    if (processes.length === 0) return {};
    const leftoverShell = this.#endedShell(where(), exitCode);
    return { leftoverShell, leftovers: processes.map(({ pid, command }) => ({ pid, command })) };
  }

  #endedShell(where: Pick<DetachedBash, "files" | "from" | "to">, exitCode: number): ShellProcess {
    const { deps, bash, command, options } = this.#context;
    const { shell } = bash;
    const label = labelOf(options);
    const [number, durationMs] = [this.#number, this.#durationMs];
    return deps.addLeftover({ ...where, bash: shell, command, label, number, exitCode, durationMs });
  }

  /** Replaces a bash that can run no more commands. The new one gets the state from before the command. */
  async #replaceBash(): Promise<void> {
    const { deps, lineage, bash } = this.#context;
    bash.finish();
    await bash.shell.waitUntil({ exit: true }, deps.killGraceMs);
    if (bash.isAlive) await bash.shell.end({ kind: "killed", detail: "the session" }, 0);
    await lineage.bashEnded(bash, this.#number - 1);
    await bash.close();
    await this.#startSuccessor(true);
  }

  async #startSuccessor(wedged: boolean): Promise<void> {
    const { lineage } = this.#context;
    const { next } = lineage;
    if (next !== "none") this.#restarted = true;
    this.#notes.push(...note.restartedNotes({ wedged, next }), ...note.staleNotes(lineage.missing));
    lineage.prepareNext();
    if (next === "successor") this.#notes.push(...note.unrestoredNotes(await lineage.unrestoredNext()));
  }

  #finish({ outcome, ...parts }: ResultParts): SessionResult {
    const { lineage, bash, command } = this.#context;
    const { cwd } = lineage.directory;
    const { output, started } = bash;
    const named: Partial<Record<StreamName, string>> = {};
    const fileOf = (stream: StreamName) => {
      named[stream] ??= output.fileOf(parts[stream]);
      return named[stream];
    };
    return {
      command,
      leftovers: [],
      ...parts,
      cwd,
      cwdChanged: cwd !== this.#cwdBefore,
      restarted: this.#restarted,
      notes: this.#notes,
      durationMs: Math.round(this.#durationMs * 1000) / 1000,
      firstLine: this.#firstLine,
      confinement: started.meta.confinement,
      containment: started.tag === undefined ? "best-effort" : "tag",
      fileOf,
      asShell: () =>
        parts.shell ??
        parts.leftoverShell ??
        this.#endedShell(outputPlace(parts, fileOf), parts.exitCode ?? 0),
      outcome: outcome ?? (parts.exitCode === null ? undefined : fromCode(parts.exitCode)),
    };
  }
}

/** Whether bash ended although this session did nothing to end it. */
function isByItself({ kind }: Outcome): boolean {
  return kind === "exited" || kind === "signaled" || kind === "failedToStart" || kind === "lost";
}

/**
 * In `eval`, an unterminated substitution (`$(` or `<(`) corrupts the memory of bash 5.2, which can then crash at any
 * time. If the command may contain such a substitution, another bash checks it without running it (`set -n`).
 */
async function isUnterminated(command: string, deps: SessionDeps, workspace: string): Promise<boolean> {
  if (!/[$<>]\(/.test(command)) return false;
  const reader = await deps.createShell({
    command: `set -n\n${command}\n`,
    workingDir: "/",
    workspace,
    background: false,
    timeoutMs: SYNTAX_CHECK_MAX_MS,
  });
  await reader.waitUntil({ exit: true });
  const { exitCode } = reader;
  deps.forget(reader);
  return exitCode !== 0;
}
