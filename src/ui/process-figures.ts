// CPU time, memory and listening ports of the processes of all running shells, from one scan of /proc.
import type { Engine } from "../engine/engine.ts";
import { residentBytes } from "../engine/process-memory.ts";
import { readStat } from "../engine/process-table.ts";
import { listeningPorts } from "../engine/process-waits.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { monotonicMs } from "../support/clock.ts";
import { CLOCK_TICK_MS } from "../support/limits.ts";

export interface Figures {
  readonly processes: number;
  /** In percent of one processor, since the last scan. */
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  readonly ports: readonly number[];
}

const NONE: Figures = { processes: 0, cpuPercent: 0, memoryBytes: 0, ports: [] };

export class ProcessFigures {
  readonly #engine: Pick<Engine, "processesOf">;
  #ticks = new Map<string, number>();
  #atMs = monotonicMs();
  #figures = new Map<string, Figures>();

  constructor(engine: Pick<Engine, "processesOf">) {
    this.#engine = engine;
  }

  of(id: string): Figures {
    return this.#figures.get(id) ?? NONE;
  }

  /** Measures again. `shells` are the running shells. */
  async measure(shells: readonly StartedShell[]): Promise<void> {
    const found = await this.#engine.processesOf(shells);
    const now = monotonicMs();
    const elapsedMs = Math.max(1, now - this.#atMs);
    const ticks = new Map<string, number>();
    const figures = new Map<string, Figures>();
    for (const [shell, processes] of found) {
      let cpuMs = 0;
      let memoryBytes = 0;
      const ports = new Set<number>();
      for (const { pid, startTime } of processes) {
        const stat = readStat(pid);
        if (stat?.startTime !== startTime) continue;
        const key = `${pid}/${startTime}`;
        const before = this.#ticks.get(key);
        ticks.set(key, stat.processorTicks);
        if (before !== undefined) cpuMs += (stat.processorTicks - before) * CLOCK_TICK_MS;
        memoryBytes += residentBytes(pid);
        for (const port of listeningPorts(pid)) ports.add(port);
      }
      figures.set(shell.id, {
        processes: processes.length,
        cpuPercent: Math.round((100 * cpuMs) / elapsedMs),
        // Round to two digits, so that a row does not change with every scan.
        memoryBytes: Number(memoryBytes.toPrecision(2)),
        ports: [...ports].sort((a, b) => a - b),
      });
    }
    this.#ticks = ticks;
    this.#figures = figures;
    this.#atMs = now;
  }
}
