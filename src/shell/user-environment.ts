// The variables that the user's shell profile adds to the environment of commands. Asks the shell once, and again when
// one of the profile's files changes.
import { statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { runProfile } from "../engine/run-profile.ts";
import { ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import {
  type BuiltEnvironment,
  buildEnvironment,
  type EnvironmentOptions,
  withHiddenValues,
} from "../environment/environment.ts";
import { profileFiles, profileQuestion, readAnswer } from "../environment/user-profile.ts";
import { attempt } from "../support/attempt.ts";
import type { ShellManagerOptions } from "./manager-options.ts";

export interface UserEnvironmentOptions {
  readonly root: StateRoot;
  /** The environment without the profile. */
  readonly base: BuiltEnvironment;
  /** The rules for inherited variables. They also apply to the variables of the profile. */
  readonly rules: Omit<EnvironmentOptions, "inherited">;
  readonly workingDir: string;
  /** @default $SHELL, else the one in the user database */
  readonly shellPath?: string | undefined;
  /** How long the profile may take. @default 10,000 */
  readonly timeoutMs?: number;
}

type Variables = Readonly<Record<string, string>>;

export class UserEnvironment {
  readonly #options: UserEnvironmentOptions;
  readonly #shellPath: string;
  #asked: { readonly fingerprint: string; readonly built: Promise<BuiltEnvironment | undefined> } | undefined;
  #built: BuiltEnvironment | undefined;
  #merged: BuiltEnvironment | undefined;
  #note: string | undefined;

  /** undefined unless the options ask for the user's profile. */
  static of(
    { shellProfile, environment, workspace }: ShellManagerOptions,
    root: StateRoot,
    base: BuiltEnvironment,
  ): UserEnvironment | undefined {
    if (shellProfile !== "user") return undefined;
    const workingDir = workspace ?? attempt(homedir) ?? "/";
    return new UserEnvironment({ root, base, rules: environment ?? {}, workingDir });
  }

  constructor(options: UserEnvironmentOptions) {
    this.#options = options;
    const known = options.shellPath ?? process.env["SHELL"] ?? attempt(() => userInfo().shell) ?? undefined;
    this.#shellPath = known || "/bin/bash";
  }

  /** The environment with the profile, once it is known. Secrets of the profile are redacted, too. */
  get environment(): BuiltEnvironment {
    return this.#merged ?? this.#options.base;
  }

  /** The variables that differ from the base environment. Waits for the profile at the first call. */
  readonly variables = async (): Promise<Variables> => {
    const fingerprint = this.#fingerprint();
    if (this.#asked?.fingerprint !== fingerprint) this.#asked = { fingerprint, built: this.#ask() };
    // If the new profile fails, use the last good answer.
    const built = (await this.#asked.built) ?? this.#built;
    if (built !== this.#built) this.#merged = built && merged(this.#options.base, built);
    this.#built = built;
    const { env } = this.#options.base;
    const found = Object.entries(this.#built?.env ?? {}).filter(([name, value]) => env[name] !== value);
    return Object.fromEntries(found);
  };

  /** A note about a problem with the profile. Returns each note only once. */
  takeNote(): string | undefined {
    const note = this.#note;
    this.#note = undefined;
    return note;
  }

  async #ask(): Promise<BuiltEnvironment | undefined> {
    const { root, base, rules, workingDir, timeoutMs } = this.#options;
    const { answer, problem } = await runProfile({
      shellPath: this.#shellPath,
      env: { ...base.env, NACRE_PROFILE: "1" },
      workingDir,
      directory: join(root.path, ROOT_NAMES.profiles),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      question: (file) => profileQuestion(this.#shellPath, file),
    });
    const inherited = readAnswer(answer);
    if (inherited === undefined || problem !== undefined) {
      const effect = inherited ? "Its variables are used" : "Commands run without it";
      this.#note = `The profile of ${this.#shellPath} has a problem: ${problem ?? "it printed no environment"}. ${effect}.`;
    }
    return inherited && buildEnvironment({ ...rules, inherited });
  }

  #fingerprint(): string {
    const env = { HOME: attempt(homedir), ...this.#options.base.env };
    const files = profileFiles(this.#shellPath, env, this.#options.workingDir);
    const state = files.map((file) => {
      const stat = attempt(() => statSync(file, { throwIfNoEntry: false }));
      return stat ? `${file} ${stat.ino} ${stat.size} ${stat.mtimeMs}` : "";
    });
    return state.join("\n");
  }
}

function merged(base: BuiltEnvironment, profile: BuiltEnvironment): BuiltEnvironment {
  const env = { ...base.env, ...profile.env };
  const names = new Set(base.dropped.map(({ name }) => name));
  const more = profile.dropped.filter(({ name }) => !names.has(name));
  const dropped = [...base.dropped, ...more].filter(({ name }) => !(name in env));
  return withHiddenValues({ env, dropped }, [...base.droppedValues, ...profile.droppedValues]);
}
