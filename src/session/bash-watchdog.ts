// Detects a bash that no longer follows the harness: `set -n`, `enable -n`, a function named `builtin`. Such a bash reads
// its script while a command is outstanding, which no command makes it do. The watchdog then ends its script.
import { readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import {
  WATCHDOG_EXIT_MS,
  WATCHDOG_FIRST_MS,
  WATCHDOG_INTERVAL_MS,
  WATCHDOG_LOOK_MS,
  WATCHDOG_LOOKS_COUNT,
} from "../support/limits.ts";
import type { ScriptChannel } from "./bash-pipes.ts";

export interface WatchedBash {
  readonly pid: number;
  readonly channel: ScriptChannel | undefined;
  /** Whether a logger that it prints to has ended. */
  readonly isAnyLoggerGone: () => boolean;
  /** Called once it is stuck. */
  readonly endScript: () => void;
  /** Called if it has not ended some time after that. */
  readonly kill: () => void;
}

export class BashWatchdog {
  readonly #bash: WatchedBash;
  #isWatching = false;
  #first: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(bash: WatchedBash) {
    this.#bash = bash;
  }

  /** A command has been sent. */
  start(): void {
    this.#isWatching = true;
    // One timer for all commands: most end long before it fires.
    if (this.#first) {
      this.#first.refresh();
      return;
    }
    this.#first = setTimeout(() => {
      if (this.#isWatching) this.#check(0);
    }, WATCHDOG_FIRST_MS);
    this.#first.unref();
  }

  /** The command has ended. */
  stop(): void {
    this.#isWatching = false;
    clearTimeout(this.#timer);
  }

  close(): void {
    clearTimeout(this.#first);
  }

  #check(inMs: number, agreeing = 0): void {
    this.#timer = setTimeout(() => {
      if (!this.#isStuck()) this.#check(WATCHDOG_INTERVAL_MS);
      else if (agreeing + 1 < WATCHDOG_LOOKS_COUNT) this.#check(WATCHDOG_LOOK_MS, agreeing + 1);
      else this.#giveUp();
    }, inMs);
    this.#timer.unref();
  }

  #isStuck(): boolean {
    const { pid, channel, isAnyLoggerGone } = this.#bash;
    if (!channel?.isFlushed) return false;
    const call = attempt(() => readFileSync(`/proc/${pid}/syscall`, "latin1")) ?? "";
    // In open(): if its logger has ended, opening the pipe again waits for a reader.
    if (/^(?:257|56) /.test(call)) return isAnyLoggerGone();
    if (!/^(?:0|63) 0x0 /.test(call)) return false;
    return attempt(() => readlinkSync(`/proc/${pid}/fd/0`)) === channel.link;
  }

  #giveUp(): void {
    this.#bash.endScript();
    this.#timer = setTimeout(this.#bash.kill, WATCHDOG_EXIT_MS);
  }
}
