// The state of one bash: what it last reported about itself, the message that has it save its state, and the states it
// has saved. Other files only read these.
import { isDeepStrictEqual } from "node:util";
import { saveMessage } from "./harness-state.ts";
import { prefixOf, type SavedState, SavedStates, type WholeState } from "./saved-states.ts";
import { type CommandPlan, HARNESS_BUILTINS, type HarnessContext, type PutAside } from "./session-harness.ts";
import type { Report } from "./session-reports.ts";
import { differences } from "./session-restore.ts";

export interface BashStateOptions {
  readonly harness: HarnessContext;
  /** Precedes its first command: options and traps of the bash before. */
  readonly inheritedPrefix: string;
  /** The state it starts with, saved by the bash before. */
  readonly inherited: WholeState | undefined;
  readonly putAside: PutAside;
  /** The profile that it sources at its start. */
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
  /** Saves the state after the command that runs, and after the one that has ended. */
  #save = "";
  #unsaved: string | undefined;

  /** `dir`: where it saves its state. */
  constructor(dir: string, options: BashStateOptions) {
    this.#options = options;
    this.#putAside = options.putAside;
    this.#inherited = options.inherited;
    this.saves = new SavedStates(dir, options.harness.nonce, options.inherited);
  }

  /** As the last command left it. */
  get putAside(): PutAside {
    return this.#putAside;
  }

  /** It has lost builtins that the harness needs. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Precedes the next command: the options and traps that the last one left. */
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

  /** bash is ready. Its profile may have changed the expansion of aliases. */
  started(expandsAliases: boolean): void {
    if (this.#options.profile !== undefined) this.#leave(expandsAliases, undefined);
  }

  /** A command has ended. `isAwaited`: the one that was sent last. */
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
      // -e and -u would end the new bash at the next error, -x would trace everything it does.
      prefix: prefixOf(this.#flags.replace(/[eux]/g, ""), this.#traps),
      ...(why === undefined ? {} : { missing: { commands, why } }),
    };
  }

  /** Its saved state after this command. `late`: why there may be none yet. */
  current(number: number, late: string): SavedState {
    const newest = this.saves.newest(number);
    const commands = newest ? number - newest.number : number;
    return {
      state: newest?.state,
      prefix: this.prefix,
      ...(commands > 0 ? { missing: { commands, why: this.saves.problem ?? late } } : {}),
    };
  }

  /** What it lacks of the state that it started with, as text. Only the first call returns it. */
  async takeUnrestored(bash: {
    readonly isReady: boolean;
    saved(number: number): Promise<boolean>;
  }): Promise<string[]> {
    const inherited = this.#inherited;
    if (!inherited) return [];
    await bash.saved(inherited.number);
    // Another call has asked meanwhile; or bash died at once, which the next command reports.
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

  /** The prepared message fits if the command did not change what is put aside. */
  #currentSave(): string {
    const plan = this.#plan;
    if (!plan || isDeepStrictEqual(plan.putAside, this.#putAside)) return this.#save;
    return saveMessage(this.#options.harness, plan, this.#putAside);
  }
}
