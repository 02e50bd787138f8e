// What is written into a session's script channel: for each command a short line that reads the harness, the
// harness, which reads the command, and the command's own bytes. bash reads lines from a fifo byte by byte,
// but `read -N` in one go: only the first line is slow, so it is short. Pure.
//
// The command runs at top level, in no loop and no function: `break` would end the loop, `declare` would be
// local. One variable, with a nonce in its name, is all the session has of ours. `\builtin` and not
// `builtin`: no alias has a backslash. What the harness itself does is silent, also under `set -x`.
//
// An alias can take the place of a reserved word, and a command can disable any builtin. Between commands aliases are
// therefore not expanded and the builtins of the harness are enabled; each command finds both as the last one left them.

import { bytesOfText } from "../support/path-text.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { MEANING_EXPANSIONS, MEANING_FIELDS_COUNT, type MeaningChange } from "./session-meaning.ts";

/** The builtins that the harness uses. bash has no way back without `builtin` and `enable`. */
export const HARNESS_BUILTINS: readonly string[] = (
  "builtin enable eval read printf . : alias cd compgen declare exec exit export hash return set shopt trap ulimit " +
  "umask unset"
).split(" ");

/** What is put aside between commands, as the last command left it. */
export interface PutAside {
  readonly expandsAliases: boolean;
  /** Of HARNESS_BUILTINS. */
  readonly disabled: readonly string[];
}

/** `A`, or nothing like it. */
const EXPANDS_ALIASES = `"\${BASHOPTS/*expand_aliases*/A}"`;

/** What the harness knows of one bash. */
export interface HarnessPlace {
  readonly nonce: string;
  /** Tells the reports of this bash from those of others. */
  readonly token: string;
  /** The one variable. */
  readonly variable: string;
  /** A redirection of stdout to where it reports, and one of stderr. */
  readonly toReport: string;
  readonly errorsToReport: string;
}

export function harnessPlace(nonce: string, token: string, reportPath: string): HarnessPlace {
  // Opened for reading, too: that never blocks, whoever is or is not at the other end.
  const path = shellQuote(reportPath);
  return {
    nonce,
    token,
    variable: `__nacre_${nonce}`,
    toReport: `1<>${path}`,
    errorsToReport: `2<>${path}`,
  };
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
  readonly putAside: PutAside;
  /** A directory to change to first. */
  readonly changeTo: string | undefined;
  /** Variables of this command alone, and the file that what they hide is kept in. */
  readonly env: Readonly<Record<string, string>>;
  readonly hiddenPath: string;
  /** What it may change of the meaning of the next command is reported, too. */
  readonly meaningChange: MeaningChange;
  /** Its bash can open high descriptors, and `exec` is the builtin. */
  readonly hasHighFds: boolean;
  /** New fifos for stdout and stderr. */
  readonly outputs: NewOutputs | undefined;
}

export interface NewOutputs {
  readonly stdout: string;
  readonly stderr: string;
  /** Descriptors of bash that a command made of its output (`exec 3>&1`): they move along. */
  readonly followers: readonly { readonly fd: number; readonly stream: "stdout" | "stderr" }[];
}

/**
 * The exit code of the command before, as `$?`. After options and traps that the command is to find: these set it, too.
 * Neither `set -e` nor a trap on ERR minds a failure before `&&`, and what `set -x` prints goes nowhere. With a trap on
 * DEBUG or RETURN, only a subshell does not run it.
 */
function codeScript({ lastCode, prefix, putAside: { disabled } }: CommandPlan): string {
  if (lastCode === 0) return "";
  const needsSubshell = prefix.includes("trap ") || disabled.length > 0;
  if (prefix === "" && !needsSubshell) return `\\builtin . /dev/fd/0 <<<'return ${lastCode}' &&:;`;
  const leave = needsSubshell
    ? `( \\builtin enable exit;\\builtin exit ${lastCode} )`
    : `{ \\builtin . /dev/fd/0 <<<'return ${lastCode}';}`;
  return `${leave} >/dev/null 2>&1 &&:;`;
}

/** What the harness has put aside. bash reads a whole line before it runs it, so this line is read without aliases. */
function bringBack({ expandsAliases, disabled }: PutAside): string {
  const aliases = expandsAliases ? "\\builtin shopt -s expand_aliases;" : "";
  const builtins = disabled.length > 0 ? `\\builtin enable -n ${disabled.join(" ")};` : "";
  return `${aliases}${builtins}`;
}

export function commandMessage(place: HarnessPlace, plan: CommandPlan): string {
  const { variable } = place;
  const { outputs, number } = plan;
  // With a line end: bash takes a backslash at the end of an eval for itself.
  const [before, head] = ownLines(plan);
  // A lone surrogate of the caller's is no byte: only what bash has said holds those.
  const text = `${head}${plan.command.toWellFormed()}\n`;
  // Not through `builtin`: that would undo the redirection again.
  const follow = outputs?.followers
    .map(({ fd, stream }) => ` ${fd}>&${stream === "stdout" ? 1 : 2}`)
    .join("");
  const change = outputs
    ? `\\exec >${shellQuote(outputs.stdout)} 2>${shellQuote(outputs.stderr)}${follow};`
    : "";
  const harness =
    // A command may have lowered the limit for good; without a stderr, bash cannot say so in the next one's.
    `${change}${readInto(variable, text)};\\builtin ulimit -Sx ${number} 2>&-;${surroundings(plan)}` +
    redirected(plan.hasHighFds, `${before}\\builtin eval "$${variable}";`) +
    // Options that would lead the harness astray, and traps that would run for it, are off from here to the
    // next command.
    `{ ${variable}=$?;${reportOf(place, plan)}\\builtin set +aetuvx;\\builtin shopt -u expand_aliases;} >/dev/null 2>&1\n`;
  return `${framed(variable, harness)}${text}`;
}

/**
 * Runs the script with stdin, stdout and stderr of its own, each opened anew: a program that sets O_NONBLOCK on its
 * output sets it for this command only.
 *
 * While a group runs, bash keeps the descriptors that the group redirects at the first free numbers from 10 on. A
 * command that opens one of these (`exec 10>file`) would lose it at the end of the group. For `1>&N` bash keeps them
 * above N: so the files are opened at high numbers first, and closed there before the command begins.
 */
function redirected(hasHighFds: boolean, script: string): string {
  if (!hasHighFds) return `{ ${script}} </dev/null >/dev/fd/1 2>/dev/fd/2;`;
  const [stdin, stdout, stderr] = [HIGH_FD, HIGH_FD + 1, HIGH_FD + 2];
  return (
    `{ \\exec ${stdin}<&- ${stdout}>&- ${stderr}>&-;${script}}` +
    ` ${stdin}</dev/null ${stdout}>/dev/fd/1 ${stderr}>/dev/fd/2 <&${stdin} >&${stdout} 2>&${stderr};`
  );
}

/** The first descriptor of the harness: higher than any that a command is likely to choose. */
const HIGH_FD = 900;
/** A limit on open files that leaves room for them, and for some that a command has taken. */
export const HIGH_FDS_MIN_LIMIT = HIGH_FD + 50;

/** What precedes the `eval` of the command, and the lines that precede the command in its text. */
function ownLines(plan: CommandPlan): readonly [before: string, head: string] {
  const code = codeScript(plan);
  const back = bringBack(plan.putAside);
  if (plan.prefix === "" && plan.putAside.disabled.length === 0) return [`${back}${code}`, ""];
  const quietly = back === "" ? "" : `{ ${back}} >/dev/null 2>&1;`;
  return ["", `${plan.prefix}${quietly}${code}\n`];
}

/** How many lines of the harness precede the command in the text that bash reads. */
export function linesBefore(plan: CommandPlan): number {
  // A directory and a variable can hold line ends, too.
  return `${surroundings(plan)}${ownLines(plan)[1]}`.split("\n").length - 1;
}

/** Kinds of reports as in session-reports.ts. */
function reportOf(place: HarnessPlace, { number, meaningChange }: CommandPlan): string {
  const { variable, token, toReport } = place;
  const kind = { nothing: "r", variables: "v", everything: "R" }[meaningChange];
  const also = meaningChange === "nothing" ? "" : MEANING_EXPANSIONS;
  const fields = "%s\\000".repeat(4 + (meaningChange === "nothing" ? 0 : MEANING_FIELDS_COUNT));
  const print = `\\builtin printf '${kind}\\000${token}\\000${number}\\000${fields}\\n' "$${variable}\${${variable}[1]-}" "$-" "\${PWD-}" ${EXPANDS_ALIASES} ${also}`;
  // Each of these has its own redirection: a trap on DEBUG must not print into the report.
  const traps = `\\builtin trap -p RETURN DEBUG ${toReport};`;
  if (meaningChange !== "everything") return `${traps}${print} ${toReport};\\builtin trap - RETURN DEBUG;`;
  const tables = ["declare -F", "declare -pn", "hash -l", "alias -p", "trap -p"].map(
    (words) => `\\builtin ${words};`,
  );
  // Its own builtins first. Where that fails, the code gets a mark: this bash can take no other command.
  const enable = `\\builtin enable -n ${toReport}&&\\builtin enable ${HARNESS_BUILTINS.join(" ")}||${variable}[1]=!;`;
  // Now that it is off, one will do.
  return `${enable}${traps}\\builtin trap - RETURN DEBUG;{ ${tables.join("")}${print};} ${toReport};`;
}

/** For when the command has reported: its state is saved while whoever asked reads the result. */
export function saveMessage(place: HarnessPlace, plan: CommandPlan, putAside: PutAside): string {
  const names = Object.keys(plan.env).join(" ");
  const restore = `\\builtin unset -v ${names};\\builtin . ${shellQuote(plan.hiddenPath)};`;
  const save = saveState(place, plan.number, plan.statePath, putAside);
  return framed(place.variable, `{ ${names === "" ? "" : restore}${save}} >/dev/null 2>&1\n`);
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
  /** Put aside for the first command. */
  readonly disabled: readonly string[];
}

export function birthMessage(place: HarnessPlace, plan: BirthPlan): string {
  const { restoreFrom, profile } = plan;
  const restore =
    restoreFrom === undefined
      ? "\\builtin shopt -s expand_aliases;"
      : `\\builtin . ${shellQuote(restoreFrom)};`;
  const source =
    profile === undefined
      ? ""
      : `{ ${sourceOf(profile)}} </dev/null;${listEnvironmentTo(plan.profileEnvPath)};`;
  const harness = [
    `{ ${restore}${source}`,
    `\\builtin printf 'b\\000${place.token}\\000%s\\000\\n' ${EXPANDS_ALIASES} ${place.toReport};`,
    saveState(place, plan.number, plan.statePath, { expandsAliases: false, disabled: plan.disabled }),
    "\\builtin shopt -u expand_aliases;} >/dev/null 2>&1 </dev/null\n",
  ];
  return framed(place.variable, harness.join(""));
}

/** Instead of a file: what a login shell sources. */
export const LOGIN_PROFILE = "login";

function sourceOf(profile: string): string {
  if (profile !== LOGIN_PROFILE) return `\\builtin . ${shellQuote(profile)};`;
  const [first, ...others] = ["~/.bash_profile", "~/.bash_login", "~/.profile"].map(
    (file) => `if [[ -r ${file} ]]; then \\builtin . ${file};`,
  );
  return `if [[ -r /etc/profile ]]; then \\builtin . /etc/profile; fi;${first}${others.map((other) => `el${other}`).join("")}fi;`;
}

/** What the environment of a session is to be after its profile. */
export function adjustMessage(
  place: HarnessPlace,
  plan: {
    readonly set: Readonly<Record<string, string>>;
    readonly unset: readonly string[];
    readonly number: number;
    readonly statePath: string;
    readonly putAside: PutAside;
  },
): string {
  const harness = [
    "{ ",
    plan.unset.length > 0 ? `\\builtin unset -v ${plan.unset.join(" ")};` : "",
    ...Object.entries(plan.set).map(([name, value]) => `\\builtin export ${name}=${shellQuote(value)};`),
    saveState(place, plan.number, plan.statePath, plan.putAside),
    "} >/dev/null 2>&1 </dev/null\n",
  ];
  return framed(place.variable, harness.join(""));
}

/** Ends bash with the code of the command it has run, also one that no longer takes the harness. */
export function exitMessage({ variable }: HarnessPlace): string {
  return `{ \\exit "$${variable}";} 2>/dev/null\n`;
}

export type StatePart = "options" | "functions" | "bodies" | "variables" | "rest" | `end ${number}`;

/** The marks between the parts of a saved state: nobody can have printed the nonce. */
export function markOf({ nonce }: Pick<HarnessPlace, "nonce">, part: StatePart): string {
  return `#nacre ${nonce} ${part}\n`;
}

/** What this command has of its own: another directory, variables over those of the session. */
function surroundings({ changeTo, env, hiddenPath }: CommandPlan): string {
  const names = Object.keys(env);
  if (changeTo === undefined && names.length === 0) return "";
  return [
    "{ ",
    changeTo === undefined ? "" : `\\builtin cd -- ${shellQuote(changeTo)};`,
    names.length === 0 ? "" : `\\builtin declare -p ${names.join(" ")} >|${shellQuote(hiddenPath)};`,
    ...Object.entries(env).map(([name, value]) => `\\builtin export ${name}=${shellQuote(value)};`),
    "} >/dev/null 2>&1;",
  ].join("");
}

function saveState(
  place: HarnessPlace,
  number: number,
  statePath: string,
  { expandsAliases, disabled }: PutAside,
): string {
  const also = disabled.length === 0 ? "" : `\\builtin printf 'enable -n %s\\n' ${disabled.join(" ")};`;
  const mark = (part: StatePart) => markOf(place, part).replace("\n", "\\n");
  return [
    // Under `set -a` our own variable was exported, too; a command of 1 MiB in the environment ends all programs.
    `\\builtin export -n ${place.variable};`,
    // bash writes line by line: both lists of options are a line each, and not eighty.
    `{ \\builtin printf '${mark("options")}${expandsAliases ? "expand_aliases:" : ""}%s\\n%s\\n${mark("functions")}' "$BASHOPTS" "$SHELLOPTS";`,
    `\\builtin declare -F;\\builtin printf '${mark("bodies")}';\\builtin declare -f;`,
    `\\builtin printf '${mark("variables")}';\\builtin declare -p;\\builtin printf '${mark("rest")}';`,
    "\\builtin alias -p;\\builtin umask -p;\\builtin trap -p;\\builtin hash -l;\\builtin enable -n;",
    // `declare -p` alone prints it as empty.
    `[[ -z \${DIRSTACK[1]-} ]]||\\builtin declare -p DIRSTACK;`,
    also,
    // Two files in turn: the one before is whole. Not truncated: ext4 then writes it to the disk at once, which
    // takes longer than all the rest. What is behind the mark of the end is of an earlier state.
    // What goes wrong stands before the report, and says that the state is not whole: `declare` has no exit code for it.
    `\\builtin printf '${mark(`end ${number}`)}';} ${place.errorsToReport} 1<>${shellQuote(statePath)};`,
    `\\builtin printf 's\\000${place.token}\\000${number}\\000\\n' ${place.toReport};`,
  ].join("");
}

/** In a subshell: it needs names of its own. */
function listEnvironmentTo(path: string): string {
  return `( while IFS= \\builtin read -r n; do \\builtin printf '%s=%s\\000' "$n" "\${!n}"; done < <(\\builtin compgen -e) ) >|${shellQuote(path)}`;
}

/** The short line, and what it reads. */
function framed(variable: string, harness: string): string {
  return `${readInto(variable, harness)};\\builtin eval "$${variable}"\n${harness}`;
}

/** `read -N` counts characters of the locale, unless that is C. */
function readInto(variable: string, text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return `\\builtin read -rN${text.length} ${variable}`;
  // A locale that does not exist is complained about when it comes back.
  const length = text.isWellFormed() ? Buffer.byteLength(text) : bytesOfText(text).length;
  return `{ LC_ALL=C \\builtin read -rN${length} ${variable};} 2>/dev/null`;
}
