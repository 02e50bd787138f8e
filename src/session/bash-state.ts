// The state of one bash: what it last reported about itself, the message that makes it save its state, and the states
// it has saved. Other files only read these.
import { isDeepStrictEqual } from "node:util";
import { monotonicMs } from "../support/clock.ts";
import { STATE_SAVE_MAX_MS } from "../support/limits.ts";
import {
  type CommandPlan,
  HARNESS_BUILTINS,
  type HarnessContext,
  type PutAside,
  saveMessage,
} from "./session-harness.ts";
import type { Report } from "./session-reports.ts";
import { differences } from "./session-restore.ts";
import { readState, readStateOf } from "./state-files.ts";
import { markOf } from "./state-pieces.ts";

/** A state that is whole, and the command after which bash saved it. */
export interface WholeState {
  readonly state: string;
  readonly number: number;
}

/** What the next bash takes over. */
export interface SavedState {
  readonly state: string | undefined;
  /** The text before the first command of the next bash. It sets options and traps. */
  readonly prefix: string;
  /** The last commands whose state could not be saved, if any, and why. */
  readonly missing?: MissingCommands;
}

export interface MissingCommands {
  readonly commands: number;
  readonly why: string;
}

export const NO_STATE: SavedState = { state: undefined, prefix: "" };

/** The text that turns on the options and traps that are off between commands. */
function prefixOf(flags: string, traps: string): string {
  const on = flags.replace(/[^aeuvx]/g, "");
  return `${on === "" ? "" : `\\builtin set -${on};`}${traps}`;
}

/** The states that one bash has saved, and which saves failed. */
export class SavedStates {
  readonly #dir: string;
  readonly #nonce: string;
  #number = -1;
  /** The last whole state before the first failed save. Until then, the state that bash started with. */
  #kept: WholeState | undefined;
  #problem: string | undefined;
  #isReported = false;
  readonly #waiting = new Set<() => void>();

  constructor(dir: string, nonce: string, given: WholeState | undefined) {
    this.#dir = dir;
    this.#nonce = nonce;
    this.#kept = given;
  }

  /** Call this when bash reports that it has written the state after this command, or why it could not. */
  take(number: number, problem: string | undefined): void {
    this.#number = number;
    if (problem === undefined || this.read(number) !== undefined) {
      this.#problem = undefined;
      this.#isReported = false;
    } else {
      // Keep the last whole state, because the next save overwrites its file and may also fail.
      if (this.#problem === undefined) {
        const state = this.read(number - 1);
        if (state !== undefined) this.#kept = { state, number: number - 1 };
      }
      this.#problem = problem;
    }
    this.wake();
  }

  /** Wakes the callers that wait for a save. Call this when bash has ended and saves nothing more. */
  wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** The state after this command, if it is whole. */
  read(number: number): string | undefined {
    return readStateOf(this.#dir, number, this.#nonce);
  }

  /** The newest whole state after this command or an earlier one. */
  newest(number: number): WholeState | undefined {
    const state = readState(this.#dir, number, this.#nonce);
    if (state === undefined) return this.#kept;
    const isOfLast = state.endsWith(markOf(this.#nonce, `end ${number}`));
    return { state, number: isOfLast ? number : number - 1 };
  }

  /** Why the last save failed, if it did. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Why the last save failed; returned only once each time saves begin to fail. */
  takeProblem(): string | undefined {
    if (this.#isReported) return undefined;
    this.#isReported = this.#problem !== undefined;
    return this.#problem;
  }

  /** Resolves with true when bash has reported for this command, with false when bash ends or takes too long. */
  async reported(number: number, isAlive: () => boolean): Promise<boolean> {
    const deadline = monotonicMs() + STATE_SAVE_MAX_MS;
    while (this.#number < number) {
      const leftMs = deadline - monotonicMs();
      if (!isAlive() || leftMs <= 0) return false;
      await this.#next(leftMs);
    }
    return true;
  }

  async #next(maxMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      timer = setTimeout(resolve, maxMs);
    });
    clearTimeout(timer);
  }
}

export interface BashStateOptions {
  readonly harness: HarnessContext;
  /** The text before the first command of this bash. It sets the options and traps of the previous bash. */
  readonly inheritedPrefix: string;
  /** The state that this bash starts with. The previous bash saved it. */
  readonly inherited: WholeState | undefined;
  readonly putAside: PutAside;
  /** The profile that this bash sources at its start. */
  readonly profile: string | undefined;
}

export class BashState {
  readonly saves: SavedStates;
  readonly #options: BashStateOptions;
  #flags = "";
  #traps = "";
  #isBroken = false;
  #putAside: PutAside;
  #inherited: WholeState | undefined;
  #plan: CommandPlan | undefined;
  /** The messages that save the state: after the running command, and after the last command that ended. */
  #save = "";
  #unsaved: string | undefined;

  /** `dir`: where bash saves its state. */
  constructor(dir: string, options: BashStateOptions) {
    this.#options = options;
    this.#putAside = options.putAside;
    this.#inherited = options.inherited;
    this.saves = new SavedStates(dir, options.harness.nonce, options.inherited);
  }

  /** The settings that the harness suspends between commands, as the last command left them. */
  get putAside(): PutAside {
    return this.#putAside;
  }

  /** Whether bash has lost builtins that the harness needs. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The text before the next command, which sets the options and traps that the last command left. */
  get prefix(): string {
    if (this.#flags === "" && this.#traps === "") return this.#options.inheritedPrefix;
    return prefixOf(this.#flags, this.#traps);
  }

  get isUnsaved(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Builds the message that saves the state after this command, while the command runs. */
  prepareSave(plan: CommandPlan): void {
    this.#plan = plan;
    this.#save = saveMessage(this.#options.harness, plan, plan.putAside);
  }

  /** The message that saves the state after the last command, once. */
  takeSave(): string | undefined {
    const unsaved = this.#unsaved;
    this.#unsaved = undefined;
    return unsaved;
  }

  /** Call this when bash is ready. Its profile may have turned alias expansion on or off. */
  started(expandsAliases: boolean): void {
    if (this.#options.profile !== undefined) this.#leave(expandsAliases, undefined);
  }

  /** Call this when a command has ended. `isAwaited`: whether a caller waits for this command. */
  reported(report: Report & { kind: "ran" }, isAwaited: boolean): void {
    this.#flags = report.flags;
    this.#traps = report.traps;
    this.#isBroken = report.isBroken;
    this.#leave(report.expandsAliases, report.disabled);
    if (isAwaited) this.#unsaved = report.isBroken ? undefined : this.#currentSave();
  }

  /** What the next bash takes over; `number` is the last command whose state counts. */
  leave(number: number): SavedState {
    const newest = this.saves.newest(number);
    const commands = newest ? number - newest.number : 0;
    // A bash that died between two commands may not have saved the last state; the note on its death says so.
    const why = this.saves.problem ?? (commands > 1 ? "its files are gone" : undefined);
    return {
      state: newest?.state,
      // -e and -u would end the new bash at the next error, and -x would trace everything it does.
      prefix: prefixOf(this.#flags.replace(/[eux]/g, ""), this.#traps),
      ...(why === undefined ? {} : { missing: { commands, why } }),
    };
  }

  /** The saved state after this command. `late`: why bash may not have saved it yet. */
  current(number: number, late: string): SavedState {
    const newest = this.saves.newest(number);
    const commands = newest ? number - newest.number : number;
    return {
      state: newest?.state,
      prefix: this.prefix,
      ...(commands > 0 ? { missing: { commands, why: this.saves.problem ?? late } } : {}),
    };
  }

  /** The parts of its initial state that bash failed to restore, as text. Only the first call returns them. */
  async takeUnrestored(bash: {
    readonly isReady: boolean;
    saved(number: number): Promise<boolean>;
  }): Promise<string[]> {
    const inherited = this.#inherited;
    if (!inherited) return [];
    await bash.saved(inherited.number);
    // Another call has returned the parts meanwhile, or bash died at once. The next command reports such a death.
    if (!this.#inherited || !bash.isReady) return [];
    this.#inherited = undefined;
    const state = this.saves.read(inherited.number);
    return state === undefined ? [] : differences(inherited.state, state, this.#options.harness.nonce);
  }

  #leave(expandsAliases: boolean, disabled = this.#putAside.disabled): void {
    this.#putAside = {
      expandsAliases,
      disabled: disabled.filter((name) => HARNESS_BUILTINS.includes(name)),
    };
  }

  /** Returns the prepared message, or a new one if the command changed the suspended settings. */
  #currentSave(): string {
    const plan = this.#plan;
    if (!plan || isDeepStrictEqual(plan.putAside, this.#putAside)) return this.#save;
    return saveMessage(this.#options.harness, plan, this.#putAside);
  }
}
