// The text that a session writes to the stdin of its bash outside of commands: to start it with the state of the bash
// before, to adjust its environment after a profile, and to save its state after a command. Pure.
import { join } from "node:path";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { shellQuote } from "../support/shell-quote.ts";
import {
  type CommandPlan,
  EXPANDS_ALIASES,
  exportScript,
  framed,
  type HarnessContext,
  type PutAside,
} from "./session-harness.ts";
import { markOf, type StatePart } from "./state-pieces.ts";

/** `dir`: the directory that bash can write to. */
export function harnessContext(
  nonce: string,
  token: string,
  reportPath: string,
  dir: string,
): HarnessContext {
  // Opened for reading and writing: that never blocks, whether or not the other end is open.
  const path = shellQuote(reportPath);
  return {
    nonce,
    token,
    variable: `__nacre_${nonce}`,
    toReport: `1<>${path}`,
    errorsToReport: `2<>${path}`,
    stateFiles: [shellQuote(stateFile(dir, 0)), shellQuote(stateFile(dir, 1))],
    hiddenFile: shellQuote(join(dir, SESSION_NAMES.hidden)),
  };
}

/** The file for the state after this command. Two files in turn: while bash writes one, the other one is whole. */
export function stateFile(dir: string, number: number): string {
  return join(dir, SESSION_NAMES.state(number));
}

/** Sent after the report: bash saves its state while the caller reads the result. */
export function saveMessage(
  context: HarnessContext,
  { number, env }: CommandPlan,
  putAside: PutAside,
): string {
  const names = Object.keys(env).join(" ");
  const restore = names === "" ? "" : `\\builtin unset -v ${names};\\builtin . ${context.hiddenFile};`;
  return framed(context.variable, `{ ${restore}${saveScript(context, number, putAside)}} >/dev/null 2>&1\n`);
}

export interface StartMessage {
  /** A script that gives it the state of the bash before (session-restore.ts). */
  readonly restoreFrom: string | undefined;
  readonly profile: string | undefined;
  /** Where bash writes the environment after the profile. */
  readonly profileEnvPath: string;
  /** Of the command before. */
  readonly number: number;
  /** Put aside for the first command. */
  readonly disabled: readonly string[];
}

export function startMessage(context: HarnessContext, message: StartMessage): string {
  const { restoreFrom, profile, number, disabled } = message;
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
    saveScript(context, number, { expandsAliases: false, disabled }),
    "\\builtin shopt -u expand_aliases;} >/dev/null 2>&1 </dev/null\n",
  ];
  return framed(context.variable, harness.join(""));
}

/** Instead of a file: the profile of a login shell. */
export const LOGIN_PROFILE = "login";

function sourceOf(profile: string): string {
  if (profile !== LOGIN_PROFILE) return `\\builtin . ${shellQuote(profile)};`;
  const [first, ...others] = ["~/.bash_profile", "~/.bash_login", "~/.profile"].map(
    (file) => `if [[ -r ${file} ]]; then \\builtin . ${file};`,
  );
  return `if [[ -r /etc/profile ]]; then \\builtin . /etc/profile; fi;${first}${others.map((other) => `el${other}`).join("")}fi;`;
}

/** In a subshell: it needs its own variable. */
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
    readonly putAside: PutAside;
  },
): string {
  const unset = adjust.unset.length > 0 ? `\\builtin unset -v ${adjust.unset.join(" ")};` : "";
  const save = saveScript(context, adjust.number, adjust.putAside);
  return framed(
    context.variable,
    `{ ${unset}${exportScript(adjust.set)}${save}} >/dev/null 2>&1 </dev/null\n`,
  );
}

function saveScript(
  { nonce, variable, token, toReport, errorsToReport, stateFiles }: HarnessContext,
  number: number,
  { expandsAliases, disabled }: PutAside,
): string {
  const mark = (part: StatePart) => markOf(nonce, part).replace("\n", "\\n");
  return [
    // `set -a` exported our variable, too. With a command of 1 MiB in the environment, no program could start.
    `\\builtin export -n ${variable};`,
    // bash writes line by line: each list of options is one line, not forty.
    `{ \\builtin printf '${mark("options")}${expandsAliases ? "expand_aliases:" : ""}%s\\n%s\\n${mark("functions")}' "$BASHOPTS" "$SHELLOPTS";`,
    `\\builtin declare -F;\\builtin printf '${mark("bodies")}';\\builtin declare -f;`,
    `\\builtin printf '${mark("variables")}';\\builtin declare -p;\\builtin printf '${mark("rest")}';`,
    "\\builtin alias -p;\\builtin umask -p;\\builtin trap -p;\\builtin hash -l;\\builtin enable -n;",
    // `declare -p` alone prints it as empty.
    `[[ -z \${DIRSTACK[1]-} ]]||\\builtin declare -p DIRSTACK;`,
    disabled.length === 0 ? "" : `\\builtin printf 'enable -n %s\\n' ${disabled.join(" ")};`,
    // Not truncated: ext4 would then write the file to the disk at once, which takes longer than everything else. Text
    // behind the mark of the end belongs to an earlier state. An error message precedes the report and says that the
    // state is not whole: `declare` has no exit code for a failed write.
    `\\builtin printf '${mark(`end ${number}`)}';} ${errorsToReport} 1<>${stateFiles[(number & 1) as 0 | 1]};`,
    `\\builtin printf 's\\000${token}\\000${number}\\000\\n' ${toReport};`,
  ].join("");
}
