// The state of one bash: what bash last reported about itself, and the message that makes bash save its state. Other
// files only read these fields. saved-states.ts owns the saved states.
import { isDeepStrictEqual } from "node:util";
import { openFilesLimit } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { monotonicMs } from "../support/clock.ts";
import { LARGE_STATE_MIN_MS } from "../support/limits.ts";
import { descriptorsOf } from "./logger-pair.ts";
import { SavedStates, type WholeState } from "./saved-states.ts";
import {
  type CommandPlan,
  HARNESS_BUILTINS,
  type HarnessContext,
  HIGH_FDS_MIN_LIMIT,
  type SuspendedSettings,
} from "./session-harness.ts";
import type { Report } from "./session-reports.ts";
import { differences } from "./session-restore.ts";
import { type SavePlan, saveMessage } from "./state-script.ts";

/** The state that the next bash inherits. */
export interface SavedState {
  readonly state: string | undefined;
  /** The text before the first command of the next bash. It sets options and traps. */
  readonly prefix: string;
  /** The last commands, if their state could not be saved, and the reason. */
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

export interface BashStateOptions {
  readonly started: StartedShell;
  readonly harness: HarnessContext;
  /** The text before the first command of this bash. It sets the options and traps of the previous bash. */
  readonly inheritedPrefix: string;
  /** The state that this bash starts with. The previous bash saved it. */
  readonly inherited: WholeState | undefined;
  readonly suspendedSettings: SuspendedSettings;
  /** The profile that this bash sources at its start. */
  readonly profile: string | undefined;
}

export class BashState {
  readonly saves: SavedStates;
  readonly #options: BashStateOptions;
  #flags = "";
  #traps = "";
  #isBroken = false;
  /** undefined after a command that may have changed the limit on open files. */
  #reachesHighFds: boolean | undefined;
  #suspendedSettings: SuspendedSettings;
  #inherited: WholeState | undefined;
  #plan: CommandPlan | undefined;
  #sentMs = 0;
  #trapsChildren = false;
  /** Whether the command may have set so many variables that bash takes long to list them. */
  #isLarge = false;
  /** The save after the running command, and its message. */
  #save: SavePlan | undefined;
  #message = "";
  #isUnsaved = false;

  /** `dir`: where bash saves its state. */
  constructor(dir: string, options: BashStateOptions) {
    this.#options = options;
    this.#suspendedSettings = options.suspendedSettings;
    this.#inherited = options.inherited;
    this.saves = new SavedStates(dir, options.harness.nonce, options.inherited);
  }

  /** The settings that the harness suspends between commands, as the last command left them. */
  get suspendedSettings(): SuspendedSettings {
    return this.#suspendedSettings;
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

  /** Whether bash's limit on open files leaves room for the descriptors of the harness. */
  get reachesHighFds(): boolean {
    this.#reachesHighFds ??= openFilesLimit(this.#options.started.commandPid) >= HIGH_FDS_MIN_LIMIT;
    return this.#reachesHighFds;
  }

  get isUnsaved(): boolean {
    return this.#isUnsaved;
  }

  /** Builds the message that saves the state after this command, while the command runs. */
  prepareSave(plan: CommandPlan): void {
    const { number, suspendedSettings, env, command, meaningChange } = plan;
    this.#plan = plan;
    if (meaningChange === "everything" || command.includes("limit")) this.#reachesHighFds = undefined;
    this.#sentMs = monotonicMs();
    this.#save = { number, suspendedSettings, file: this.saves.nextFile };
    this.#message = saveMessage(this.#options.harness, env, this.#save);
  }

  /**
   * The message that saves the state after the last command; only the first call returns it. `mayFork`: whether bash
   * may fork a saver.
   */
  takeSave(mayFork: boolean): string | undefined {
    const [plan, save] = [this.#plan, this.#save];
    if (!this.#isUnsaved || !plan || !save) return undefined;
    this.#isUnsaved = false;
    const saverMustClose = mayFork ? this.#heldByBash() : undefined;
    this.saves.add(save.number, save.file, saverMustClose !== undefined);
    // The command may have changed the suspended settings.
    if (!saverMustClose && isDeepStrictEqual(save.suspendedSettings, this.#suspendedSettings))
      return this.#message;
    const current = {
      ...save,
      suspendedSettings: this.#suspendedSettings,
      ...(saverMustClose ? { saverMustClose } : {}),
    };
    return saveMessage(this.#options.harness, plan.env, current);
  }

  /** Call this when bash is ready. Its profile may have turned alias expansion on or off. */
  started(expandsAliases: boolean): void {
    if (this.#options.profile !== undefined) this.#setSuspended(expandsAliases, undefined);
  }

  /** Call this when a command has ended. `isAwaited`: whether a caller waits for this command. */
  reported(report: Report & { kind: "ran" }, isAwaited: boolean): void {
    this.#flags = report.flags;
    this.#traps = report.traps;
    this.#isBroken = report.isBroken;
    // The harness itself may have failed because there were no descriptors left.
    if (report.code !== 0) this.#reachesHighFds = undefined;
    this.#trapsChildren = report.trapsChildren;
    this.#setSuspended(report.expandsAliases, report.disabled);
    if (!isAwaited) return;
    this.#isUnsaved = !report.isBroken;
    const ranMs = monotonicMs() - this.#sentMs;
    this.#isLarge = this.#plan?.meaningChange === "everything" && ranMs > LARGE_STATE_MIN_MS;
  }

  /**
   * The state that the next bash inherits: the state after command `number` or, if there is none, the newest earlier
   * state.
   */
  stateForNextBash(number: number): SavedState {
    const newest = this.saves.newest(number);
    const commands = newest ? number - newest.number : 0;
    // A bash that died between two commands may not have saved its last state; the note about its death says so.
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

  /** The parts of the inherited state that bash failed to restore, as text. Only the first call returns them. */
  async takeUnrestored(bash: {
    readonly isReady: boolean;
    saved(number: number): Promise<boolean>;
  }): Promise<string[]> {
    const inherited = this.#inherited;
    if (!inherited) return [];
    await bash.saved(inherited.number);
    // Another call has returned the parts meanwhile, or bash has died. The next command reports such a death.
    if (!this.#inherited || !bash.isReady) return [];
    this.#inherited = undefined;
    const state = this.saves.read(inherited.number);
    return state === undefined ? [] : differences(inherited.state, state, this.#options.harness.nonce);
  }

  /** The descriptors of bash that a saver must not hold open; undefined if bash should not fork one. */
  #heldByBash(): number[] | undefined {
    // Do not fork if there is a trap on CHLD, because the fork would run it.
    if (this.#trapsChildren || !this.saves.needsSaver(this.#isLarge)) return undefined;
    const descriptors = descriptorsOf(this.#options.started.commandPid).map(Number);
    // The list is empty if this process may not read it.
    return descriptors.length === 0 ? undefined : descriptors.filter((fd) => fd > 2);
  }

  #setSuspended(expandsAliases: boolean, disabled = this.#suspendedSettings.disabled): void {
    this.#suspendedSettings = {
      expandsAliases,
      disabled: disabled.filter((name) => HARNESS_BUILTINS.includes(name)),
    };
  }
}
