// Diagnoses why a command takes long: what each of its processes does or waits for, sampled over a second. One sample
// can be taken at an untypical moment, so the most frequent finding counts.
//
//   DiagnosisSampler.take (several times) -> observe each process (engine/process-waits.ts)
//   DiagnosisSampler.result               -> Diagnosis; summaryOf: one line for a model
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { type ProcessRef, processKey, readStat } from "../engine/process-table.ts";
import { listeningPorts, type ProcessWait, waitOf } from "../engine/process-waits.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import {
  CLOCK_TICK_MS,
  DIAGNOSIS_BUSY_SHARE,
  DIAGNOSIS_COMMAND_MAX_CHARS,
  DIAGNOSIS_NAMED_MAX_COUNT,
  DIAGNOSIS_SAMPLES_COUNT,
  DIAGNOSIS_WINDOW_MS,
} from "../support/limits.ts";
import { printable } from "../support/printable.ts";
import { sleep } from "../support/timing.ts";

/** The names are those of `nacre why --json`. */
export interface DiagnosedProcess {
  readonly pid: number;
  readonly command: string;
  readonly state: "running" | "waiting" | "disk" | "stopped";
  /** In words; null if it does not wait, or nothing is known. */
  readonly waits_for: string | null;
  /** Processor time since its start. */
  readonly cpu_ms: number;
  readonly cpu_last_second_ms: number;
  /** TCP ports on which it listens. */
  readonly ports: readonly number[];
}

export interface Diagnosis {
  readonly processes: readonly DiagnosedProcess[];
  /** Time since the last output, or since the start if there is no output. */
  readonly silent_ms: number;
}

export interface DiagnosedCommand {
  /** Its processes, without shim and loggers. */
  readonly processes: () => Promise<readonly ProcessRef[]>;
  /** Its output files; those without output of this command are ignored. */
  readonly outputs: readonly { readonly path: string; readonly from: number }[];
  /** Wall-clock time of the start. */
  readonly startedAt: number;
  /** Replaces the command line of nacre's own bash in the result. */
  readonly named?: (command: string) => string;
}

interface Observation {
  readonly atMs: number;
  readonly ticks: number;
  readonly parent: number;
  readonly wait: ProcessWait;
  readonly ports: readonly number[];
  /** Positions in the files that it can write, by path. */
  readonly written: ReadonlyMap<string, number>;
}

interface Observed {
  readonly process: ProcessRef;
  readonly all: Observation[];
}

export async function diagnose(command: DiagnosedCommand): Promise<Diagnosis> {
  const sampler = new DiagnosisSampler(command);
  await sampler.take();
  for (let count = 1; count < DIAGNOSIS_SAMPLES_COUNT; count++) {
    await sleep(DIAGNOSIS_WINDOW_MS / (DIAGNOSIS_SAMPLES_COUNT - 1));
    await sampler.take();
  }
  return sampler.result();
}

export class DiagnosisSampler {
  readonly #command: DiagnosedCommand;
  #observed = new Map<string, Observed>();
  #silentMs = 0;

  constructor(command: DiagnosedCommand) {
    this.#command = command;
  }

  /** Whether any process was found. */
  get hasFound(): boolean {
    return this.#observed.size > 0;
  }

  /** `isCurrent`: false drops the sample if the command was killed while its processes were searched. */
  async take(isCurrent = () => true): Promise<void> {
    const processes = await this.#command.processes();
    if (!isCurrent()) return;
    const alive = new Map<string, Observed>();
    for (const process of processes) {
      const observation = observe(process.pid);
      if (!observation) continue;
      const key = processKey(process);
      const observed = this.#observed.get(key) ?? { process, all: [] };
      observed.all.push(observation);
      // The process may have run exec since the last sample, so store its new command line.
      alive.set(key, { process, all: observed.all });
    }
    this.#observed = alive;
    this.#silentMs = silenceOf(this.#command);
  }

  /** Describes the processes that were alive at the last sample. */
  result(): Diagnosis {
    const named = this.#command.named ?? ((command: string) => command);
    const processes = [...this.#observed.values()].map((observed) => processOf(observed, named));
    return { processes, silent_ms: this.#silentMs };
  }
}

/**
 * One line for a model. Names the processes that do not wait for a child, or all processes if each of them waits for a
 * child.
 */
export function summaryOf({ processes, silent_ms }: Diagnosis): string {
  const waitsForChild = ({ waits_for }: DiagnosedProcess) => waits_for?.includes("child") ?? false;
  const ends = processes.filter((one) => !waitsForChild(one));
  const shown = (ends.length > 0 ? ends : processes).slice(0, DIAGNOSIS_NAMED_MAX_COUNT);
  const more = (ends.length > 0 ? ends : processes).length - shown.length;
  const parts = shown.map((one) => `${one.command} (pid ${one.pid}) ${doing(one)}`);
  const rest = more > 0 ? `; ${more} more ${more === 1 ? "process" : "processes"}` : "";
  const silence = `no output for ${Math.round(silent_ms / 1000)} s`;
  return parts.length === 0 ? `No process is left; ${silence}.` : `${parts.join("; ")}${rest}; ${silence}.`;
}

export function doing({ state, waits_for, cpu_last_second_ms }: DiagnosedProcess): string {
  if (state === "running") return `uses the CPU (${cpu_last_second_ms} ms in the last second)`;
  return waits_for === null ? "waits" : `waits for ${waits_for}`;
}

function observe(pid: number): Observation | undefined {
  const stat = readStat(pid);
  const ports = listeningPorts(pid);
  const wait = waitOf(pid, ports);
  if (!stat || !wait) return undefined;
  const { processorTicks: ticks, parent } = stat;
  return { atMs: monotonicMs(), ticks, parent, wait, ports, written: writtenFiles(pid) };
}

const WRITABLE = 0b11;

/** The positions in the regular files that a process has open for writing. */
function writtenFiles(pid: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const fd of attempt(() => readdirSync(`/proc/${pid}/fdinfo`)) ?? []) {
    const info = attempt(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1")) ?? "";
    const flags = Number.parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? "0", 8);
    if ((flags & WRITABLE) === 0) continue;
    const path = attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? "";
    if (path.startsWith("/") && !path.startsWith("/dev/"))
      found.set(path, Number(/^pos:\s+(\d+)/m.exec(info)?.[1] ?? 0));
  }
  return found;
}

function processOf({ process, all }: Observed, named: (command: string) => string): DiagnosedProcess {
  const [first] = all;
  const last = all.at(-1);
  const usedMs = ((last?.ticks ?? 0) - (first?.ticks ?? 0)) * CLOCK_TICK_MS;
  const overMs = Math.max(1, (last?.atMs ?? 0) - (first?.atMs ?? 0));
  const lastSecondMs = Math.min(usedMs, Math.round((usedMs * DIAGNOSIS_WINDOW_MS) / overMs));
  const { state, waits_for } = verdictOn(all, usedMs / overMs);
  return {
    pid: process.pid,
    command: printable(named(process.command).slice(0, DIAGNOSIS_COMMAND_MAX_CHARS)),
    state,
    // The text can include a path, which can contain any character.
    waits_for: waits_for === null ? null : printable(waits_for),
    cpu_ms: (last?.ticks ?? 0) * CLOCK_TICK_MS,
    cpu_last_second_ms: lastSecondMs,
    ports: last?.ports ?? [],
  };
}

function verdictOn(
  all: readonly Observation[],
  busyShare: number,
): Pick<DiagnosedProcess, "state" | "waits_for"> {
  const counts = new Map<string, { readonly wait: ProcessWait; count: number }>();
  let active = 0;
  for (const { wait } of all) {
    if (wait.kind === "runs" || wait.kind === "disk") active++;
    const counted = counts.get(wait.kind) ?? { wait, count: 0 };
    // Use the newest description of each kind.
    counts.set(wait.kind, { wait, count: counted.count + 1 });
  }
  const isActive = 2 * active >= all.length;
  const growing = isActive || busyShare >= DIAGNOSIS_BUSY_SHARE ? grownFile(all) : undefined;
  if (growing !== undefined) return { state: "disk", waits_for: `the disk (it writes ${growing})` };
  const most = [...counts.values()].sort((a, b) => b.count - a.count)[0];
  const disk = counts.get("disk");
  // A process that alternates between computing and waiting for the disk counts as waiting for the disk.
  if (isActive && disk && busyShare < DIAGNOSIS_BUSY_SHARE)
    return { state: "disk", waits_for: disk.wait.words };
  if (busyShare >= DIAGNOSIS_BUSY_SHARE || most?.wait.kind === "runs")
    return { state: "running", waits_for: null };
  if (most?.wait.kind === "stopped") return { state: "stopped", waits_for: most.wait.words };
  return { state: "waiting", waits_for: most?.wait.words ?? null };
}

/** The file whose position moved most between the first and the last observation. */
function grownFile(all: readonly Observation[]): string | undefined {
  const first = all[0]?.written ?? new Map<string, number>();
  let best: string | undefined;
  let most = 0;
  for (const [path, position] of all.at(-1)?.written ?? []) {
    const moved = position - (first.get(path) ?? 0);
    if (moved > most) [best, most] = [path, moved];
  }
  return best;
}

function silenceOf({ outputs, startedAt }: DiagnosedCommand): number {
  const times = outputs.map(({ path, from }) => {
    const stat = attempt(() => statSync(path));
    return stat && stat.size > from ? stat.mtimeMs : startedAt;
  });
  return Math.max(0, Math.round(wallMs() - Math.max(startedAt, ...times)));
}
