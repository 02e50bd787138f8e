// The diagnosis of a foreground command whose time is almost up: samples the command's processes during its last
// second. The result then says what they were doing when the command was killed or moved to the background.
import type { RunOptions } from "../session/session-options.ts";
import { type Diagnosis, DiagnosisSampler } from "../shell/diagnosis.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import {
  DIAGNOSIS_LEAD_MS,
  DIAGNOSIS_SAMPLES_COUNT,
  DIAGNOSIS_WINDOW_MS,
  TIMER_MAX_MS,
} from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import type { CallTiming } from "./call-timing.ts";

type Started = Parameters<NonNullable<RunOptions["onStart"]>>[0];

export class CommandDiagnosis {
  readonly #timing: CallTiming;
  #timer: NodeJS.Timeout | undefined;
  #sampler: DiagnosisSampler | undefined;
  #isStopped = false;

  constructor(timing: CallTiming) {
    this.#timing = timing;
  }

  /** Must be called when the command starts. */
  start({ stdout, stderr, processes }: Started): void {
    const { timeoutMs = Number.POSITIVE_INFINITY, backgroundAfterMs = Number.POSITIVE_INFINITY } =
      this.#timing;
    const endMs = Math.min(timeoutMs, backgroundAfterMs);
    const delayMs = Math.max(0, endMs - DIAGNOSIS_LEAD_MS);
    if (delayMs > TIMER_MAX_MS) return;
    const sampler = new DiagnosisSampler({ processes, outputs: [stdout, stderr], startedAt: wallMs() });
    const lastMs = monotonicMs() + endMs;
    this.#timer = setTimeout(() => void this.#sample(sampler, lastMs).catch(() => {}), delayMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** undefined if the command ended before its last second. */
  get result(): Diagnosis | undefined {
    return this.#sampler?.result();
  }

  async #sample(sampler: DiagnosisSampler, lastMs: number): Promise<void> {
    const pauseMs = DIAGNOSIS_WINDOW_MS / DIAGNOSIS_SAMPLES_COUNT;
    // The processes that remain after a kill do not show what the command was waiting for.
    const isRunning = () => !this.#isStopped && monotonicMs() < lastMs;
    while (isRunning()) {
      await sampler.take(isRunning);
      if (sampler.hasFound) this.#sampler = sampler;
      await sleep(Math.max(1, Math.min(pauseMs, lastMs - monotonicMs())));
    }
  }
}
