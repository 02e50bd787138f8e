// What is written into a session's script channel: for each command a short line that reads the harness, the
// harness, which reads the command, and the command's own bytes. bash reads lines from a fifo byte by byte,
// but `read -N` in one go: only the first line is slow, so it is short. Pure.
//
// The command runs at top level, in no loop and no function: `break` would end the loop, `declare` would be
// local. One variable, with a nonce in its name, is all the session has of ours. `\builtin` and not
// `builtin`: no alias has a backslash. What the harness itself does is silent, also under `set -x`.
import { isAscii } from "node:buffer";

/** What the harness knows of one bash. */
export interface HarnessPlace {
  /** Names the one variable. */
  readonly nonce: string;
  /** Tells the reports of this bash from those of others. */
  readonly token: string;
  readonly reportPath: string;
}

export interface CommandPlan {
  readonly number: number;
  readonly command: string;
  /** Where the state is saved afterwards. */
  readonly statePath: string;
  /** The exit code of the command before it: its `$?`. */
  readonly lastCode: number;
  /** Set before the command's own text: the options and traps that are off between commands. */
  readonly prefix: string;
  /** A directory to change to first. */
  readonly changeTo: string | undefined;
  /** Variables of this command alone, and the file that what they hide is kept in. */
  readonly env: Readonly<Record<string, string>>;
  readonly hiddenPath: string;
  /** New fifos for stdout and stderr. */
  readonly outputs: { readonly stdout: string; readonly stderr: string } | undefined;
}

export function commandMessage(place: HarnessPlace, plan: CommandPlan): Buffer {
  const variable = variableOf(place);
  // With a line end: bash takes a backslash at the end of an eval for itself.
  const text = Buffer.from(`${plan.prefix}${plan.command}\n`);
  const names = Object.keys(plan.env);
  const hide = [
    names.length > 0 ? `\\builtin declare -p ${names.join(" ")} >|${quoted(plan.hiddenPath)};` : "",
    ...Object.entries(plan.env).map(([name, value]) => `\\builtin export ${name}=${quoted(value)};`),
  ].join("");
  const unhide =
    names.length > 0 ? `\\builtin unset -v ${names.join(" ")};\\builtin . ${quoted(plan.hiddenPath)};` : "";
  const outputs = plan.outputs;
  const harness = [
    // Not through `builtin`: that would undo the redirection again.
    outputs ? `\\exec >${quoted(outputs.stdout)} 2>${quoted(outputs.stderr)};` : "",
    `{ ${readInto(variable, text)};\\builtin ulimit -Sx ${plan.number};`,
    plan.changeTo === undefined ? "" : `\\builtin cd -- ${quoted(plan.changeTo)};`,
    hide,
    "} >/dev/null 2>&1;",
    // Opened anew for each command: a program that sets O_NONBLOCK on its output sets it for this one only.
    "{ ",
    // Neither `set -e` nor a trap on ERR minds a failure before `&&`.
    plan.lastCode === 0 ? "" : `\\builtin . /dev/fd/0 <<<'return ${plan.lastCode}' &&:;`,
    `\\builtin eval "$${variable}";} </dev/null >/dev/fd/1 2>/dev/fd/2;`,
    `{ ${variable}=$?;`,
    `\\builtin printf 'r\\000${place.token}\\000${plan.number}\\000%s\\000%s\\000%s\\000' "$${variable}" "$-" "\${PWD-}" ${reportTo(place)};`,
    // Each with its own redirection: a trap on DEBUG must not print into the report.
    `\\builtin trap -p RETURN DEBUG ${reportTo(place)};\\builtin trap - RETURN DEBUG;`,
    `\\builtin printf '\\000\\n' ${reportTo(place)};`,
    afterwards(place, plan.number, plan.statePath, unhide),
    "} >/dev/null 2>&1\n",
  ].join("");
  return message(variable, harness, text);
}

export interface BirthPlan {
  /** A script that makes it what the bash before was (session-state.ts). */
  readonly restoreFrom: string | undefined;
  readonly profile: string | undefined;
  /** Where the environment is written that the profile left. */
  readonly profileEnvPath: string;
  /** Of the command before. */
  readonly number: number;
  readonly statePath: string;
}

export function birthMessage(place: HarnessPlace, plan: BirthPlan): Buffer {
  const { restoreFrom, profile } = plan;
  const restore =
    restoreFrom === undefined ? "\\builtin shopt -s expand_aliases;" : `\\builtin . ${quoted(restoreFrom)};`;
  const source =
    profile === undefined
      ? ""
      : `\\builtin . ${quoted(profile)} </dev/null;${listEnvironmentTo(plan.profileEnvPath)};`;
  const harness = [
    `{ ${restore}${source}`,
    `\\builtin printf 'b\\000${place.token}\\000\\n' ${reportTo(place)};`,
    afterwards(place, plan.number, plan.statePath, ""),
    "} >/dev/null 2>&1 </dev/null\n",
  ].join("");
  return message(variableOf(place), harness, Buffer.alloc(0));
}

/** What the environment of a session is to be after its profile. */
export function adjustMessage(
  place: HarnessPlace,
  plan: {
    readonly set: Readonly<Record<string, string>>;
    readonly unset: readonly string[];
    readonly number: number;
    readonly statePath: string;
  },
): Buffer {
  const harness = [
    "{ ",
    plan.unset.length > 0 ? `\\builtin unset -v ${plan.unset.join(" ")};` : "",
    ...Object.entries(plan.set).map(([name, value]) => `\\builtin export ${name}=${quoted(value)};`),
    afterwards(place, plan.number, plan.statePath, ""),
    "} >/dev/null 2>&1 </dev/null\n",
  ].join("");
  return message(variableOf(place), harness, Buffer.alloc(0));
}

/** Ends bash with the code of the command it has run, also one that no longer takes the harness. */
export function exitMessage(place: HarnessPlace): Buffer {
  return Buffer.from(`{ \\exit "$${variableOf(place)}";} 2>/dev/null\n`);
}

export type StatePart = "options" | "functions" | "variables" | "rest" | `end ${number}`;

/** The marks between the parts of a saved state: nobody can have printed the nonce. */
export function markOf({ nonce }: Pick<HarnessPlace, "nonce">, part: StatePart): string {
  return `#nacre ${nonce} ${part}\n`;
}

/** Safe inside single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** After the report, while whoever asked reads it. Options that would lead the harness astray are off until the next command. */
function afterwards(place: HarnessPlace, number: number, statePath: string, first: string): string {
  const mark = (part: StatePart) => markOf(place, part).replace("\n", "\\n");
  return [
    // Under `set -a` our own variable was exported, too; a command of 1 MiB in the environment ends all programs.
    `\\builtin set +aeuvx;\\builtin export -n ${variableOf(place)};`,
    first,
    // bash writes line by line: both lists of options are a line each, and not eighty.
    `{ \\builtin printf '${mark("options")}%s\\n%s\\n${mark("functions")}' "$BASHOPTS" "$SHELLOPTS";`,
    "\\builtin declare -f;\\builtin declare -Fx;",
    `\\builtin printf '${mark("variables")}';\\builtin declare -p;`,
    `\\builtin printf '${mark("rest")}';\\builtin alias -p;\\builtin umask -p;\\builtin trap -p;`,
    // Over whatever is there, also under noclobber. Two files in turn: the one before is whole.
    `\\builtin printf '${mark(`end ${number}`)}';} >|${quoted(statePath)};`,
    `\\builtin printf 's\\000${place.token}\\000${number}\\000\\n' ${reportTo(place)};`,
  ].join("");
}

/** Opened for reading, too: that never blocks, whoever is or is not at the other end. */
function reportTo({ reportPath }: HarnessPlace): string {
  return `1<>${quoted(reportPath)}`;
}

/** In a subshell: it needs names of its own. */
function listEnvironmentTo(path: string): string {
  return `( while IFS= \\builtin read -r n; do \\builtin printf '%s=%s\\000' "$n" "\${!n}"; done < <(\\builtin compgen -e) ) >|${quoted(path)}`;
}

function message(variable: string, harness: string, text: Buffer): Buffer {
  const bytes = Buffer.from(harness);
  const read = readInto(variable, bytes);
  // A locale that does not exist is complained about when it comes back.
  const line = read.startsWith("LC") ? `{ ${read};} 2>/dev/null` : read;
  return Buffer.concat([Buffer.from(`${line};\\builtin eval "$${variable}"\n`), bytes, text]);
}

/** `read -N` counts characters of the locale, unless that is C. */
function readInto(variable: string, bytes: Buffer): string {
  const locale = isAscii(bytes) ? "" : "LC_ALL=C ";
  return `${locale}\\builtin read -rN${bytes.length} ${variable}`;
}

function variableOf({ nonce }: HarnessPlace): string {
  return `__nacre_${nonce}`;
}
