// The processes that a kill or an interrupt may reach. Two implementations: all processes of a shell (engine.ts), and
// those of one command of a session (session/command-processes.ts).
import type { OnSignalled, SignalNewPlan } from "./newest-processes.ts";
import type { ProcessRef } from "./process-table.ts";
import type { SignalResult } from "./signals.ts";
import type { StartedShell } from "./started-shell.ts";

export interface ProcessScope {
  /** The running processes of each shell, without its shim and loggers. One scan serves many shells. */
  processesOf(shells: readonly StartedShell[]): Promise<Map<StartedShell, ProcessRef[]>>;
  /**
   * Signals each process as it appears, until no more appear. Use this for processes that fork faster than a scan can
   * follow.
   */
  signalNewProcesses(
    shells: readonly StartedShell[],
    plan: SignalNewPlan,
    onSignalled: OnSignalled,
  ): Promise<void>;
  /** Signals the command's process group, if the command or its group still exists. */
  signalGroup(shell: StartedShell, signal: NodeJS.Signals): SignalResult;
}

export interface ShellScope extends ProcessScope {
  /** The processes that an ended shell left running. This is cheap if the shell forked nothing. */
  leftoversOf(shell: StartedShell): Promise<ProcessRef[]>;
}
