// The text that a session writes to the stdin of its bash for one command. It has three parts: a short line, which
// reads the harness; the harness, which reads the command; and the bytes of the command. bash reads a line from a pipe
// byte by byte, but `read -N` needs only one system call. So only the first line is slow, and it is short. Pure.
//
// The command runs at top level, not in a loop or a function: in a loop, `break` would end that loop; in a function,
// `declare` would create a local variable. nacre sets one variable in the session, with a nonce in its name. The
// harness writes `\builtin`, not `builtin`: an alias name cannot begin with a backslash. The harness prints nothing,
// even under `set -x`.
//
// An alias can replace a reserved word, and a command can disable any builtin. So between commands, bash expands no
// aliases, and the builtins that the harness needs are enabled. Before each command, the harness restores both settings
// as the last command left them.

import { bytesOfText } from "../support/path-text.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { MEANING_EXPANSIONS, MEANING_FIELDS_COUNT, type MeaningChange } from "./session-meaning.ts";

/** The builtins that the harness uses. Without `builtin` and `enable`, bash cannot enable them again. */
export const HARNESS_BUILTINS: readonly string[] = (
  "builtin enable eval read printf . : alias cd compgen declare exec exit export hash return set shopt trap ulimit " +
  "umask unset"
).split(" ");

/** The settings that the harness suspends between commands, as the last command left them. */
export interface SuspendedSettings {
  readonly expandsAliases: boolean;
  /** The disabled builtins that are in HARNESS_BUILTINS. */
  readonly disabled: readonly string[];
}

/** `A` if aliases are expanded, else the value of BASHOPTS. */
export const EXPANDS_ALIASES = `"\${BASHOPTS/*expand_aliases*/A}"`;

/** What the harness knows about one bash. Paths are quoted. */
export interface HarnessContext {
  readonly nonce: string;
  /** Distinguishes the reports of this bash from those of other bashes. */
  readonly token: string;
  /** The name of the harness's one variable. */
  readonly variable: string;
  /** Redirects stdout to the report pipe. */
  readonly toReport: string;
  /** Redirects stderr to the report pipe. */
  readonly errorsToReport: string;
  /** The path of the state file with this index. */
  readonly stateFile: (index: number) => string;
  /** The marks between the parts of a saved state, as printf formats. `end` lacks the number of the command. */
  readonly marks: Readonly<Record<"options" | "functions" | "bodies" | "variables" | "rest" | "end", string>>;
  /** The path of a file that stores the session's variables while the variables of one command hide them. */
  readonly hiddenFile: string;
  /** Whether the hard limit on file locks is the tag of the session. */
  readonly isTagged: boolean;
  /** The pause of a saver before it begins. */
  readonly saverPauseSeconds: number;
}

export interface CommandPlan {
  readonly number: number;
  readonly command: string;
  /** The exit code of the previous command, which becomes `$?`. */
  readonly lastCode: number;
  /** The text before the command: it sets the options and traps that are off between commands. */
  readonly prefix: string;
  readonly suspendedSettings: SuspendedSettings;
  /** A directory to change to first. */
  readonly changeTo: string | undefined;
  /** Variables for this command only. */
  readonly env: Readonly<Record<string, string>>;
  /** How much of the session's meaning the report includes. */
  readonly meaningChange: MeaningChange;
  /** Whether bash can open high descriptors and `exec` is the builtin. */
  readonly hasHighFds: boolean;
  /** New fifos for stdout and stderr. */
  readonly outputs: NewOutputs | undefined;
}

export interface NewOutputs {
  readonly stdout: string;
  readonly stderr: string;
  /** Descriptors that a command duplicated from its output (`exec 3>&1`): they move to the new fifos. */
  readonly followers: readonly { readonly fd: number; readonly stream: "stdout" | "stderr" }[];
}

/**
 * Sets `$?` to the exit code of the previous command. Must follow the lines that set options and traps, because these
 * also set `$?`. Before `&&`, a failure triggers neither `set -e` nor a trap on ERR, and the trace of `set -x` goes to
 * /dev/null. If the command has traps, this uses a subshell, where traps on DEBUG and RETURN do not run.
 */
function codeScript({ lastCode, prefix, suspendedSettings: { disabled } }: CommandPlan): string {
  if (lastCode === 0) return "";
  const needsSubshell = prefix.includes("trap ") || disabled.length > 0;
  if (prefix === "" && !needsSubshell) return `\\builtin . /dev/fd/0 <<<'return ${lastCode}' &&:;`;
  const leave = needsSubshell
    ? `( \\builtin enable exit;\\builtin exit ${lastCode} )`
    : `{ \\builtin . /dev/fd/0 <<<'return ${lastCode}';}`;
  return `${leave} >/dev/null 2>&1 &&:;`;
}

/** Restores the suspended settings. bash reads a whole line before running it, so no alias affects this line. */
function bringBack({ expandsAliases, disabled }: SuspendedSettings): string {
  const aliases = expandsAliases ? "\\builtin shopt -s expand_aliases;" : "";
  const builtins = disabled.length > 0 ? `\\builtin enable -n ${disabled.join(" ")};` : "";
  return `${aliases}${builtins}`;
}

export function commandMessage(context: HarnessContext, plan: CommandPlan): string {
  const { variable } = context;
  const { outputs, number } = plan;
  const [before, head] = ownLines(plan);
  // End with a newline: bash drops a backslash at the end of an eval. A lone surrogate stands for a byte only in text
  // that bash printed, so replace any in the caller's text.
  const text = `${head}${plan.command.toWellFormed()}\n`;
  const follow = outputs?.followers
    .map(({ fd, stream }) => ` ${fd}>&${stream === "stdout" ? 1 : 2}`)
    .join("");
  // Do not use `\builtin exec`, because it would undo the redirection.
  const change = outputs
    ? `\\exec >${shellQuote(outputs.stdout)} 2>${shellQuote(outputs.stderr)}${follow};`
    : "";
  const harness =
    // Close stderr: if an earlier command lowered the limit, ulimit prints an error, which is not this command's
    // output.
    `${change}${readInto(variable, text)};\\builtin ulimit -Sx ${number} 2>&-;${setup(context, plan)}` +
    redirected(plan.hasHighFds, `${before}\\builtin eval "$${variable}";`) +
    // From here to the next command, turn off options that would break the harness, and traps that would run for the
    // harness.
    `{ ${variable}=$?;${reportScript(context, plan)}\\builtin set +aetuvx;\\builtin shopt -u expand_aliases;} >/dev/null 2>&1\n`;
  return `${framed(variable, harness)}${text}`;
}

/**
 * Runs the script with its own stdin, stdout and stderr, each newly opened. So a program that sets O_NONBLOCK on its
 * output sets the flag for this command only.
 *
 * While a group runs, bash saves the descriptors that the group redirects, at the first free numbers from 10 on. A
 * command that opens one of these numbers (`exec 10>file`) would lose its file at the end of the group. For `1>&N`,
 * bash saves descriptors above N. So the harness opens its files at high numbers, and closes these before the command
 * begins.
 */
function redirected(hasHighFds: boolean, script: string): string {
  if (!hasHighFds) return `{ ${script}} </dev/null >/dev/fd/1 2>/dev/fd/2;`;
  const [stdin, stdout, stderr] = [HIGH_FD, HIGH_FD + 1, HIGH_FD + 2];
  return (
    `{ \\exec ${stdin}<&- ${stdout}>&- ${stderr}>&-;${script}}` +
    ` ${stdin}</dev/null ${stdout}>/dev/fd/1 ${stderr}>/dev/fd/2 <&${stdin} >&${stdout} 2>&${stderr};`
  );
}

/** The first descriptor of the harness. A command is unlikely to choose so high a number. */
const HIGH_FD = 900;
/** The lowest limit on open files that leaves room for the harness, and for some descriptors of commands. */
export const HIGH_FDS_MIN_LIMIT = HIGH_FD + 50;

/** The script before the `eval` of the command, and the lines before the command in its text. */
function ownLines(plan: CommandPlan): readonly [before: string, head: string] {
  const code = codeScript(plan);
  const back = bringBack(plan.suspendedSettings);
  if (plan.prefix === "" && plan.suspendedSettings.disabled.length === 0) return [`${back}${code}`, ""];
  const quietly = back === "" ? "" : `{ ${back}} >/dev/null 2>&1;`;
  return ["", `${plan.prefix}${quietly}${code}\n`];
}

/** How many lines of the harness precede the command in the text that bash reads. */
export function linesBefore(context: HarnessContext, plan: CommandPlan): number {
  // The directory and the values of variables can also contain newlines.
  return `${setup(context, plan)}${ownLines(plan)[1]}`.split("\n").length - 1;
}

/** The script that sends a report, which session-reports.ts parses. */
function reportScript(context: HarnessContext, { number, meaningChange }: CommandPlan): string {
  const { variable, token, toReport } = context;
  const kind = { nothing: "r", variables: "v", everything: "R" }[meaningChange];
  const meaning = meaningChange === "nothing" ? "" : MEANING_EXPANSIONS;
  const fields = "%s\\000".repeat(4 + (meaningChange === "nothing" ? 0 : MEANING_FIELDS_COUNT));
  const print = `\\builtin printf '${kind}\\000${token}\\000${number}\\000${fields}\\n' "$${variable}\${${variable}[1]-}" "$-" "\${PWD-}" ${EXPANDS_ALIASES} ${meaning}`;
  // After a command that may have set a trap, bash sends the full report. So there is no trap to print here.
  if (meaningChange !== "everything") return `${print} ${toReport};`;
  // Redirect each builtin separately: otherwise a trap on DEBUG would print into the report.
  const traps = `\\builtin trap -p RETURN DEBUG ${toReport};`;
  const tables = ["declare -F", "declare -pn", "hash -l", "alias -p", "trap -p"].map(
    (words) => `\\builtin ${words};`,
  );
  // First enable the builtins of the harness. If that fails, mark the exit code with `!`: this bash cannot take another
  // command.
  const enable = `\\builtin enable -n ${toReport}&&\\builtin enable ${HARNESS_BUILTINS.join(" ")}||${variable}[1]=!;`;
  // The trap on DEBUG is off by then, so one redirection for all these builtins is enough.
  return `${enable}${traps}\\builtin trap - RETURN DEBUG;{ ${tables.join("")}${print};} ${toReport};`;
}

/** Makes bash exit with the code of its last command, even if bash no longer follows the harness. */
export function exitMessage({ variable }: HarnessContext): string {
  return `{ \\exit "$${variable}";} 2>/dev/null\n`;
}

/** The script that sets the directory and the variables of this command. */
function setup({ hiddenFile }: HarnessContext, { changeTo, env }: CommandPlan): string {
  const names = Object.keys(env);
  if (changeTo === undefined && names.length === 0) return "";
  return [
    "{ ",
    changeTo === undefined ? "" : `\\builtin cd -- ${shellQuote(changeTo)};`,
    names.length === 0 ? "" : `\\builtin declare -p ${names.join(" ")} >|${hiddenFile};`,
    exportScript(env),
    "} >/dev/null 2>&1;",
  ].join("");
}

export function exportScript(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `\\builtin export ${name}=${shellQuote(value)};`)
    .join("");
}

/** The short line that reads the harness, then the harness. */
export function framed(variable: string, harness: string): string {
  return `${readInto(variable, harness)};\\builtin eval "$${variable}"\n${harness}`;
}

/** `read -N` counts characters of the locale. In the C locale, these are bytes. */
function readInto(variable: string, text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return `\\builtin read -rN${text.length} ${variable}`;
  const length = text.isWellFormed() ? Buffer.byteLength(text) : bytesOfText(text).length;
  // If the session's locale does not exist, bash prints a warning when it returns to that locale.
  return `{ LC_ALL=C \\builtin read -rN${length} ${variable};} 2>/dev/null`;
}
