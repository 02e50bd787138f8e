// The text that a session writes to the stdin of a new bash: to restore the state of the previous bash, to source a
// profile and to adjust the environment afterwards. Pure.
import { join } from "node:path";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { SAVER_PAUSE_MS } from "../support/limits.ts";
import { shellQuote } from "../support/shell-quote.ts";
import {
  EXPANDS_ALIASES,
  exportScript,
  framed,
  type HarnessContext,
  type SuspendedSettings,
} from "./session-harness.ts";
import { stateFile } from "./state-files.ts";
import { markOf, type StatePart } from "./state-pieces.ts";
import { saveScript } from "./state-script.ts";

/** `dir`: the directory that bash can write to. */
export function harnessContext(
  nonce: string,
  token: string,
  reportPath: string,
  dir: string,
  isTagged: boolean,
): HarnessContext {
  // `<>` opens the pipe for both reading and writing, which never blocks, even if the other end is closed.
  const path = shellQuote(reportPath);
  const mark = (part: StatePart) => markOf(nonce, part).replace("\n", "\\n");
  const stateFiles: string[] = [];
  return {
    nonce,
    token,
    variable: `__nacre_${nonce}`,
    toReport: `1<>${path}`,
    errorsToReport: `2<>${path}`,
    stateFile: (index) => {
      stateFiles[index] ??= shellQuote(stateFile(dir, index));
      return stateFiles[index];
    },
    marks: {
      options: mark("options"),
      functions: mark("functions"),
      bodies: mark("bodies"),
      variables: mark("variables"),
      rest: mark("rest"),
      end: mark("end 0").replace(/0\\n$/, ""),
    },
    hiddenFile: shellQuote(join(dir, SESSION_NAMES.hidden)),
    isTagged,
    saverPauseSeconds: SAVER_PAUSE_MS / 1000,
  };
}

export interface StartMessage {
  /** A script that restores the state of the previous bash (session-restore.ts). */
  readonly restoreFrom: string | undefined;
  readonly profile: string | undefined;
  /** Where bash writes the environment after the profile. */
  readonly profileEnvPath: string;
  /** The number of the last command sent. */
  readonly number: number;
  /** The index of the state file. */
  readonly file: number;
  /** Builtins that the session has disabled. They stay enabled until the first command. */
  readonly disabled: readonly string[];
}

export function startMessage(context: HarnessContext, message: StartMessage): string {
  const { restoreFrom, profile, number, file, disabled } = message;
  const restore =
    restoreFrom === undefined
      ? "\\builtin shopt -s expand_aliases;"
      : `\\builtin . ${shellQuote(restoreFrom)};`;
  const source =
    profile === undefined
      ? ""
      : `{ ${sourceOf(profile)}} </dev/null;${listEnvironmentTo(message.profileEnvPath)};`;
  const harness = [
    `{ ${restore}${source}`,
    `\\builtin printf 'b\\000${context.token}\\000%s\\000\\n' ${EXPANDS_ALIASES} ${context.toReport};`,
    saveScript(context, { number, file, suspendedSettings: { expandsAliases: false, disabled } }),
    "\\builtin shopt -u expand_aliases;} >/dev/null 2>&1 </dev/null\n",
  ];
  return framed(context.variable, harness.join(""));
}

/** The value of `profile` that means the profile of a login shell instead of a file. */
export const LOGIN_PROFILE = "login";

function sourceOf(profile: string): string {
  if (profile !== LOGIN_PROFILE) return `\\builtin . ${shellQuote(profile)};`;
  const [first, ...others] = ["~/.bash_profile", "~/.bash_login", "~/.profile"].map(
    (file) => `if [[ -r ${file} ]]; then \\builtin . ${file};`,
  );
  return `if [[ -r /etc/profile ]]; then \\builtin . /etc/profile; fi;${first}${others.map((other) => `el${other}`).join("")}fi;`;
}

/** Runs the loop in a subshell, because the loop needs a variable. */
function listEnvironmentTo(path: string): string {
  return `( while IFS= \\builtin read -r n; do \\builtin printf '%s=%s\\000' "$n" "\${!n}"; done < <(\\builtin compgen -e) ) >|${shellQuote(path)}`;
}

/** Corrects the environment after a profile. */
export function adjustMessage(
  context: HarnessContext,
  adjust: {
    readonly set: Readonly<Record<string, string>>;
    readonly unset: readonly string[];
    readonly number: number;
    /** The index of the state file. */
    readonly file: number;
    readonly suspendedSettings: SuspendedSettings;
  },
): string {
  const unset = adjust.unset.length > 0 ? `\\builtin unset -v ${adjust.unset.join(" ")};` : "";
  const save = saveScript(context, adjust);
  return framed(
    context.variable,
    `{ ${unset}${exportScript(adjust.set)}${save}} >/dev/null 2>&1 </dev/null\n`,
  );
}
