// How one shell lives and ends: derived from its record, its cause and whether its shim is alive, decided
// once. Also when it began and ended, on clocks that do not jump.
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
import { monotonicMs, wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { EXIT_MESSAGE_MAX_MS } from "../support/limits.ts";
import { decideOutcome, type Outcome } from "./outcome.ts";

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
  /** When the shim was first seen dead and its record gone. */
  #recordGoneMs: number | undefined;

  /** `ageMs`: how long ago one began that we have started ourselves. */
  constructor(started: StartedShell, onEnd: () => void, ageMs = 0) {
    this.#started = started;
    this.#onEnd = onEnd;
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

  /** How long ago it ended, whatever the clock on the wall was set to since; null while it runs. */
  get endedAgoMs(): number | null {
    this.refresh();
    if (!this.#outcome || this.#endedMs === undefined) return null;
    // It ended before this boot; how long before, no clock tells for sure.
    if (this.#started.origin === "another boot") return uptime() * 1000;
    return Math.max(0, monotonicMs() - this.#endedMs);
  }

  get durationMs(): number {
    return Math.max(0, Math.round((this.#endedMs ?? monotonicMs()) - this.#startedMs));
  }

  /** The shim has told the host how it ended. */
  conclude(told: ExitRecord): void {
    if (this.#outcome) return;
    let exit: EndRecord["exit"] = told;
    let cause: Cause | undefined;
    try {
      ({ exit, cause } = readEndRecord(this.#started.files.record));
    } catch {
      // Out of file descriptors, say: the message tells as much as the record.
    }
    this.#settle(typeof exit === "object" ? exit : told, cause, true);
  }

  /** Looks whether the shim is still there: one that was killed, or is another host's, tells us nothing. */
  refresh(): void {
    if (this.#outcome) return;
    const { shimPid, shimStart, files, unseen, attached } = this.#started;
    try {
      const shimAlive = unseen === undefined && isSameProcess(shimPid, shimStart);
      // Its last act is to tell its host; whoever is not that host finds the record first.
      if (shimAlive && !attached) return;
      // Read after it was seen dead: nobody can have written since.
      const { exit, cause } = readEndRecord(files.record);
      if (exit === "corrupt" && !attached && this.#mayHearYet()) return;
      // Found before the shim's message has come: without this, what reads the result now would miss its remarks.
      if (typeof exit === "object") this.#started.free?.();
      this.#settle(exit, cause, shimAlive);
    } catch (error) {
      // Whoever cannot look knows nothing new; it is not lost for that.
      if (!(error instanceof NacreError)) throw error;
    }
  }

  /** The record was removed with its directory. The shim has sent the same in a message, which may be on its way. */
  #mayHearYet(): boolean {
    if (existsSync(this.#started.files.record)) return false;
    this.#recordGoneMs ??= monotonicMs();
    return monotonicMs() - this.#recordGoneMs < EXIT_MESSAGE_MAX_MS;
  }

  /** Says why it is about to be ended. The first reason wins, and none comes after the end. */
  giveCause(cause: Cause): void {
    this.refresh();
    if (this.#outcome) return;
    try {
      writeCause(this.#started.files.record, cause);
    } catch {
      // The spool is gone or broken; then this process is the only one that can know.
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

  /** Of a shell that ended before we came, the record knows better than our clocks. */
  #setEnd(record: ExitRecord | undefined): void {
    const { attached, meta, files } = this.#started;
    this.#endedMs = monotonicMs();
    this.#completedAt = wallMs();
    if (record) {
      // The shim has measured the end; this process hears of it later where its event loop is blocked.
      const recordedMs = this.#startedMs + (record.endedUptimeMs - meta.startedUptimeMs);
      this.#endedMs = attached ? recordedMs : Math.min(this.#endedMs, recordedMs + UPTIME_STEP_MS);
    }
    if (!attached) return;
    this.#completedAt = statSync(files.record, { throwIfNoEntry: false })?.mtimeMs ?? this.#completedAt;
  }
}

/** The shim reads the time since boot in hundredths of a second. */
const UPTIME_STEP_MS = 10;

function sinceUptimeMs(uptimeMs: number): number {
  return uptime() * 1000 - uptimeMs;
}

/** Why the command has not begun, if it has not. */
function faultOf({ code }: ExitRecord, { files, meta }: StartedShell): string | undefined {
  if (code === 126) return readFault(files.fault);
  // bwrap ends with 1 where it cannot set up what it was told to, and then knows of no exit code.
  if (code !== 1 || meta.confinement?.driver !== "bubblewrap") return undefined;
  return readFault(files.sandboxStatus)?.includes('"exit-code"') ? undefined : "sandbox";
}

function readFault(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
