// What one command of a session has running. Every command has a number, which its processes bear as their
// soft limit on file locks; the session's tag is the hard one.
import type { Host, ProcessRef, StartedShell } from "../hosts/host.ts";
import type { PidMark } from "../hosts/pids-since.ts";
import { lockLimits } from "../hosts/process-table.ts";
import { LEFTOVER_GRACE_MS } from "../support/limits.ts";
import type { KillHost } from "./kill.ts";
import type { SessionOutput } from "./session-output.ts";
import type { ShellHost } from "./shell-process.ts";

/**
 * A host that sees nothing but this command: what earlier ones left running is not its business. The bash is part of
 * it once it has taken the command; or always, where the bash is to end before it takes it; or never.
 */
export function onlyCommand(
  host: Host,
  number: number,
  bash: "when it runs it" | "always" | "never" = "when it runs it",
): KillHost {
  const isPart = (pid: number, { commandPid }: StartedShell) =>
    pid === commandPid && bash !== "when it runs it" ? bash === "always" : numberOf(pid) === number;
  return {
    processesOf: async (shells) => {
      const found = await host.processesOf(shells);
      return new Map(
        [...found].map(([shell, processes]) => [shell, processes.filter(({ pid }) => isPart(pid, shell))]),
      );
    },
    signal: (target, signal) => host.signal(target, signal),
    mayNotSignal: (target) => host.mayNotSignal(target),
    // Jobs of earlier commands are in the group, too.
    signalGroup: () => "gone",
    isAlive: (pid, startTime) => host.isAlive(pid, startTime),
  };
}

/** The same, as the host of a shell that stands for what the command left running. */
export function remainsHost(host: Host, bash: StartedShell, number: number): ShellHost {
  const own = onlyCommand(host, number, "never");
  // Processes are looked for under the id of their bash: the tag is given to that.
  const processesOf: KillHost["processesOf"] = async (shells) => {
    const found = (await own.processesOf([bash])).get(bash) ?? [];
    return new Map(shells.map((shell) => [shell, found]));
  };
  return {
    ...own,
    processesOf,
    leftoversOf: async (shell) => (await processesOf([shell])).get(shell) ?? [],
    hold: () => host.hold(),
  };
}

export interface CommandLeftovers {
  readonly processes: readonly ProcessRef[];
  /** Whether one of them may yet print to where the next command's output goes. */
  readonly holdsOutput: boolean;
}

/** Looked for among the pids given out since; those that only finish writing get a moment to do so. */
export async function leftoversOf(
  host: Pick<Host, "leftoversOf">,
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
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
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

function numberOf(pid: number): number | undefined {
  const soft = Number(lockLimits(pid)?.soft);
  return Number.isSafeInteger(soft) ? soft : undefined;
}
