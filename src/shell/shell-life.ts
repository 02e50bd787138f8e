// The state of one shell: derives its outcome once, from its record, its cause and whether its shim is alive. Measures
// its start and end with clocks that do not jump.
import { existsSync, readFileSync, statSync } from "node:fs";
import { uptime } from "node:os";
import {
  type Cause,
  type EndRecord,
  type ExitRecord,
  readEndRecord,
  writeCause,
} from "../engine/end-record.ts";
import { isSameProcess } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { EXIT_MESSAGE_MAX_MS, EXIT_REPORT_MAX_MS } from "../support/limits.ts";
import { decideOutcome, type Outcome } from "./outcome.ts";

interface LifeOptions {
  /** How long ago the shell began, if this process started it. */
  readonly ageMs?: number | undefined;
  readonly endIsReported?: boolean | undefined;
}

export class ShellLife {
  readonly ended: Promise<Outcome>;
  readonly #started: StartedShell;
  readonly #onEnd: () => void;
  readonly #startedMs: number;
  #resolveEnded: (outcome: Outcome) => void = () => {};
  #outcome: Outcome | undefined;
  #record: ExitRecord | undefined;
  #cause: Cause | undefined;
  #completedAt: number | null = null;
  #endedMs: number | undefined;
  readonly #endIsReported: boolean;
  /** When this process first found the shim dead while a report of the end could still arrive. */
  #shimGoneMs: number | undefined;

  constructor(
    started: StartedShell,
    onEnd: () => void,
    { ageMs = 0, endIsReported = false }: LifeOptions = {},
  ) {
    this.#started = started;
    this.#onEnd = onEnd;
    this.#endIsReported = endIsReported;
    this.#startedMs =
      monotonicMs() - (started.attached ? sinceUptimeMs(started.meta.startedUptimeMs) : ageMs);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** undefined while it runs. */
  get outcome(): Outcome | undefined {
    this.refresh();
    return this.#outcome;
  }

  get record(): ExitRecord | undefined {
    this.refresh();
    return this.#record;
  }

  /** Milliseconds since the epoch. */
  get completedAt(): number | null {
    this.refresh();
    return this.#completedAt;
  }

  /** The time since its end, unaffected by changes of the wall clock; null while it runs. */
  get endedAgoMs(): number | null {
    this.refresh();
    if (!this.#outcome || this.#endedMs === undefined) return null;
    // The shell ended before this boot. No clock says how long before, so count from the boot.
    if (this.#started.origin === "another boot") return uptime() * 1000;
    return Math.max(0, monotonicMs() - this.#endedMs);
  }

  get durationMs(): number {
    return Math.max(0, Math.round((this.#endedMs ?? monotonicMs()) - this.#startedMs));
  }

  /** Call this when the shim has reported the end to the host process. */
  conclude(reported: ExitRecord): void {
    if (this.#outcome) return;
    let exit: EndRecord["exit"] = reported;
    let cause: Cause | undefined;
    try {
      ({ exit, cause } = readEndRecord(this.#started.files.record));
    } catch {
      // Reading the record failed, for example for lack of file descriptors. Use the report, which has the same
      // content.
    }
    this.#settle(typeof exit === "object" ? exit : reported, cause, true);
  }

  /** Checks whether the shim is alive: a killed shim, or a shim of another host, sends no report to this process. */
  refresh(): void {
    if (this.#outcome) return;
    const { shimPid, shimStart, files, unseen, attached } = this.#started;
    try {
      const shimAlive = unseen === undefined && isSameProcess(shimPid, shimStart);
      // A living shim reports the end to its own host, so that host need not read the record. Other processes must read
      // it.
      if (shimAlive && !attached) return;
      // Read the record only after the check of the shim: once the shim is dead, no process writes the record.
      const { exit, cause } = readEndRecord(files.record);
      if (
        exit === "corrupt" &&
        !attached &&
        !existsSync(files.record) &&
        this.#canBeReported(EXIT_MESSAGE_MAX_MS)
      )
        return;
      // Wait for the session's report: the record does not say whether the session's loggers stored everything.
      if (typeof exit === "object" && this.#endIsReported && this.#canBeReported(EXIT_REPORT_MAX_MS)) return;
      // The report of the shim has not arrived yet. Write the remarks of the sandbox now: otherwise the result would
      // lack them.
      if (typeof exit === "object") this.#started.free?.();
      this.#settle(exit, cause, shimAlive);
    } catch (error) {
      // A lack of file descriptors does not prove that the shell is lost.
      if (!(error instanceof NacreError)) throw error;
    }
  }

  /** Whether a report of the end can still arrive. */
  #canBeReported(maxMs: number): boolean {
    this.#shimGoneMs ??= monotonicMs();
    return monotonicMs() - this.#shimGoneMs < maxMs;
  }

  /** Writes the cause of a kill. The first cause wins. If the shell has ended, this does nothing. */
  giveCause(cause: Cause): void {
    this.refresh();
    if (this.#outcome) return;
    try {
      writeCause(this.#started.files.record, cause);
    } catch {
      // The record is missing or not writable, so only this process knows the cause.
      this.#cause ??= cause;
    }
  }

  #settle(exit: EndRecord["exit"], cause: Cause | undefined, shimAlive: boolean): void {
    const { unseen } = this.#started;
    const outcome = decideOutcome({
      record: { exit, cause: cause ?? this.#cause },
      shimAlive,
      fault: typeof exit === "object" ? faultOf(exit, this.#started) : undefined,
      unseen,
    });
    if (!outcome) return;
    this.#outcome = outcome;
    this.#record = typeof exit === "object" ? exit : undefined;
    this.#setEnd(this.#record);
    this.#resolveEnded(outcome);
    this.#onEnd();
  }

  /** Sets the time of the end. For a shell that another host started, the record contains it. */
  #setEnd(record: ExitRecord | undefined): void {
    const { attached, meta, files } = this.#started;
    this.#endedMs = monotonicMs();
    this.#completedAt = wallMs();
    if (record) {
      // Use the time that the shim measured, because the report arrives late if the event loop of this process was
      // blocked.
      const recordedMs = this.#startedMs + (record.endedUptimeMs - meta.startedUptimeMs);
      this.#endedMs = attached ? recordedMs : Math.min(this.#endedMs, recordedMs + UPTIME_STEP_MS);
    }
    if (!attached) return;
    this.#completedAt = statSync(files.record, { throwIfNoEntry: false })?.mtimeMs ?? this.#completedAt;
  }
}

/** The resolution of the time since boot that the shim reads. */
const UPTIME_STEP_MS = 10;

function sinceUptimeMs(uptimeMs: number): number {
  return uptime() * 1000 - uptimeMs;
}

/** Why the command could not begin; undefined if it began. */
function faultOf({ code }: ExitRecord, { files, meta }: StartedShell): string | undefined {
  if (code === 126) return readFault(files.fault);
  // bwrap exits with 1 if it cannot set up the sandbox, and then reports no exit code of the command.
  if (code !== 1 || meta.confinement?.driver !== "bubblewrap") return undefined;
  return readFault(files.sandboxStatus)?.includes('"exit-code"') ? undefined : "sandbox";
}

function readFault(path: string): string | undefined {
  return attempt(() => readFileSync(path, "utf8").trim());
}
