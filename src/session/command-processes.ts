// What one command of a session has running. Every command has a number, which its processes bear as their
// soft limit on file locks; the session's tag is the hard one.

import type { Engine } from "../engine/engine.ts";
import { type PidMark, pidsSince } from "../engine/pids-since.ts";
import type { ProcessScope, ShellScope } from "../engine/process-scope.ts";
import { lockLimits, type ProcessRef, readStat } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { reachOf } from "../engine/tag.ts";
import { LEFTOVER_GRACE_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import type { SessionOutput } from "./session-output.ts";

/** One command among those of its session. */
export interface CommandPart {
  readonly number: number;
  /** Before its start. What has no number and no parent is part of it if it started later than this. */
  readonly pidsBefore?: PidMark;
}

/**
 * A host that sees nothing but this command: what earlier ones left running is not its business. The bash is part of
 * it once it has taken the command; or always, where the bash is to end before it takes it; or never.
 */
export function onlyCommand(
  host: Engine,
  part: CommandPart,
  bash: "when it runs it" | "always" | "never" = "when it runs it",
): ProcessScope {
  const isPart = (pid: number, shell: StartedShell) =>
    pid === shell.commandPid
      ? bash === "always" || (bash === "when it runs it" && numberOf(pid) === part.number)
      : isOf(part, pid, shell);
  return {
    processesOf: async (shells) => {
      const found = await host.processesOf(shells);
      return new Map(
        [...found].map(([shell, processes]) => [shell, processes.filter(({ pid }) => isPart(pid, shell))]),
      );
    },
    signalNewProcesses: (shells, plan, onStruck) => host.signalNewProcesses(shells, plan, onStruck, isPart),
    // Jobs of earlier commands are in the group, too.
    signalGroup: () => "gone",
  };
}

/** The same, as the host of a shell that stands for what the command left running. */
export function remainsHost(host: Engine, bash: StartedShell, number: number): ShellScope {
  const own = onlyCommand(host, { number }, "never");
  // Processes are looked for under the id of their bash: the tag is given to that.
  const processesOf: ProcessScope["processesOf"] = async (shells) => {
    const found = (await own.processesOf([bash])).get(bash) ?? [];
    return new Map(shells.map((shell) => [shell, found]));
  };
  return {
    ...own,
    processesOf,
    signalNewProcesses: (shells, plan, onStruck) =>
      own.signalNewProcesses([bash], plan, (_, process, result) => {
        for (const shell of shells) onStruck(shell, process, result);
      }),
    leftoversOf: async (shell) => (await processesOf([shell])).get(shell) ?? [],
  };
}

export interface CommandLeftovers {
  readonly processes: readonly ProcessRef[];
  /** Whether one of them may yet print to where the next command's output goes. */
  readonly holdsOutput: boolean;
}

/** Looked for among the pids given out since; those that only finish writing get a moment to do so. */
export async function leftoversOfCommand(
  host: Pick<Engine, "leftoversOf">,
  bash: StartedShell,
  which: { pidsBefore: PidMark; number: number; output: Pick<SessionOutput, "isHeldBy"> },
): Promise<CommandLeftovers> {
  const { pidsBefore, number, output } = which;
  const look = async () =>
    (await host.leftoversOf({ ...bash, pidsBefore })).filter(
      ({ pid }) => pid !== bash.commandPid && isLeftBy(number, pid, bash),
    );
  const isHolding = ({ pid }: ProcessRef) => output.isHeldBy(pid);
  let processes = await look();
  let holdsOutput = processes.some(isHolding);
  for (let pauseMs = 1; holdsOutput && pauseMs < LEFTOVER_GRACE_MS; pauseMs *= 2) {
    await sleep(pauseMs);
    processes = await look();
    holdsOutput = processes.some(isHolding);
  }
  return { processes, holdsOutput };
}

/** One that has another number than any command (a nacre inside, say) is taken for this command's. */
function isLeftBy(number: number, pid: number, { tag }: StartedShell): boolean {
  const soft = lockLimits(pid)?.soft;
  if (soft === undefined) return false;
  // It was there before any command: the sandbox, what a profile has started.
  if (tag !== undefined && soft === String(tag)) return false;
  const of = Number(soft);
  return !(of > 0 && of < number);
}

/**
 * A process bears the number of its command, unless it has changed its limit, as a nacre inside does: then the number of
 * the nearest ancestor that has one counts, and for an orphan the moment of its start.
 */
function isOf({ number, pidsBefore }: CommandPart, pid: number, { tag, commandPid }: StartedShell): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = readStat(at)?.parent) {
    const limits = lockLimits(at);
    // The shim and everything above: nothing up there is a command's.
    if (limits === undefined || at === commandPid || !isBelow(limits.hard, tag)) break;
    const own = Number(limits.soft);
    // What was there before any command: the sandbox, what a profile has started.
    if (tag !== undefined && limits.soft === String(tag)) return at !== pid && isSince(pidsBefore, pid);
    if (own > 0 && own <= number) return own === number;
  }
  return isSince(pidsBefore, pid);
}

/** A nacre inside lowers the hard limit further. */
function isBelow(hard: string, tag: bigint | undefined): boolean {
  if (tag === undefined) return true;
  const { shift, prefix } = reachOf(tag);
  return /^\d+$/.test(hard) && BigInt(hard) >> shift === prefix;
}

function isSince(mark: PidMark | undefined, pid: number): boolean {
  return mark !== undefined && pidsSince(mark).includes(pid);
}

function numberOf(pid: number): number | undefined {
  const soft = Number(lockLimits(pid)?.soft);
  return Number.isSafeInteger(soft) ? soft : undefined;
}
