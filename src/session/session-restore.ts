// Scripts that restore a saved state in a new bash. bash reads each piece separately: otherwise one piece that bash
// cannot read would prevent it from reading the others. `differences` compares the saved state with the state of the
// new bash to find what is missing. Pure.
import { shellQuote } from "../support/shell-quote.ts";
import { HARNESS_BUILTINS, type SuspendedSettings } from "./session-harness.ts";
import {
  type FunctionPiece,
  markOf,
  type StatePart,
  type StatePieces,
  statePieces,
  type VariablePiece,
} from "./state-pieces.ts";

/** The variables of a bash that has just started, apart from its environment. */
const FRESH_VARIABLES =
  "BASH HOSTNAME HOSTTYPE IFS MACHTYPE OLDPWD OPTERR OPTIND OSTYPE PATH PS4 PWD SHELL SHLVL TERM";
const DEFAULT_OPTIONS = ["braceexpand", "hashall", "interactive-comments"];
// Each of these options would end the new bash early, trace its commands, or prevent it from running anything.
const DROPPED_OPTIONS = ["errexit", "nounset", "xtrace", "noexec", "onecmd"];

/** Replaces the command number in the state that a background shell writes. */
export const INHERITED_NUMBER = 0;

/** The script that gives a new bash the state of the previous one. */
export function restoreScript(state: string, nonce: string, baseNames: readonly string[]): string {
  const pieces = statePieces(state, nonce);
  return [
    ...startScript(pieces, baseNames),
    // Restore variables before functions: a function may be named `declare`.
    ...[...pieces.variables].map(([name, variable]) => each(variableScript(name, variable))),
    directoryStackScript(pieces.directoryStack, `__nacre_${nonce}`),
    ...functionScripts(pieces),
    ...optionScripts(pieces.options),
    ...[...pieces.hashed.values()].map((piece) => each(hashScript(piece))),
    ...[pieces.umask, ...pieces.aliases.values()].map((piece) => each(`\\builtin ${piece}`)),
    // Restore traps late, because a trap on ERR or DEBUG runs for all commands after it. Leave out a trap on EXIT,
    // which belongs to the bash that set it.
    ...[...pieces.traps].filter(([name]) => name !== "EXIT").map(([, piece]) => each(`\\builtin ${piece}`)),
    // Restore options after the variables, because setting some variables changes options.
    shoptScript(pieces.shopts),
    // Set posix mode late, because an error ends bash in this mode.
    pieces.options.includes("posix") ? "\\builtin set -o posix\n" : "",
    ...pieces.disabled
      .filter((name) => !HARNESS_BUILTINS.includes(name))
      .map((name) => `\\builtin enable -n ${shellQuote(name)}\n`),
  ].join("");
}

/** The settings of a saved state that the harness suspends until the first command. */
export function suspendedSettingsOf(state: string | undefined, nonce: string): SuspendedSettings {
  if (state === undefined) return { expandsAliases: true, disabled: [] };
  const { shopts, disabled } = statePieces(state, nonce);
  return {
    expandsAliases: shopts.includes("expand_aliases"),
    disabled: disabled.filter((name) => HARNESS_BUILTINS.includes(name)),
  };
}

/**
 * The script that gives a background shell the shell options, functions and exports of its session, then the shell's
 * own variables (`env`). The shell writes its state to the file `reportTo`, relative to the shell's directory. The
 * lines in `more` run before the shell's own variables are set.
 */
export function inheritanceScript(
  state: string,
  nonce: string,
  baseNames: readonly string[],
  env: Readonly<Record<string, string>>,
  reportTo?: string,
  more: readonly string[] = [],
): string {
  const pieces = statePieces(state, nonce);
  const exported = [...pieces.variables].filter(([, { flags }]) => flags.includes("x"));
  const own = Object.entries(env).map(([name, value]) => `\\builtin export ${name}=${shellQuote(value)}\n`);
  return [
    "{\n",
    ...startScript(pieces, baseNames),
    ...exported.map(([name, variable]) => each(variableScript(name, variable))),
    ...functionScripts(pieces),
    shoptScript(pieces.shopts),
    reportTo !== undefined && isAtRisk(state, nonce) ? reportScript(nonce, reportTo) : "",
    ...more.map((line) => `${line}\n`),
    // The state is latin1 bytes, so encode the variables the same way.
    Buffer.from(own.join("")).toString("latin1"),
    "} >/dev/null 2>&1\n",
    // BASH_ENV names this file, which only the first bash may read.
    "\\builtin unset BASH_ENV\n",
  ].join("");
}

/** The script that writes the inherited part of the state, in the format of a saved state (state-script.ts). */
function reportScript(nonce: string, reportTo: string): string {
  const mark = (part: StatePart) => markOf(nonce, part).replace("\n", "\\n");
  return [
    `{ \\builtin printf '${mark("options")}%s\\n%s\\n${mark("functions")}' "$BASHOPTS" "$SHELLOPTS"\n`,
    `\\builtin declare -F\n\\builtin printf '${mark("bodies")}'\n\\builtin declare -f\n`,
    `\\builtin printf '${mark("variables")}'\n\\builtin declare -px\n`,
    // $0 is the script of the shell, in the directory of the shell.
    `\\builtin printf '${mark("rest")}${mark(`end ${INHERITED_NUMBER}`)}'\n} >|"\${0%/*}"/${shellQuote(reportTo)}\n`,
  ].join("");
}

/**
 * Whether a shell can fail to inherit a part of the state: functions and variables with attributes can fail, but plain
 * exports cannot.
 */
export function isAtRisk(state: string, nonce: string): boolean {
  const { functions, variables } = statePieces(state, nonce);
  return (
    functions.size > 0 || [...variables.values()].some(({ flags }) => /x./.test(flags) || /.x/.test(flags))
  );
}

/** What a background shell failed to inherit, as text. */
export function notInherited(state: string, report: string, nonce: string): string[] {
  const [old, now] = [statePieces(state, nonce), statePieces(report, nonce)];
  const exported = new Map([...old.variables].filter(([, { flags }]) => flags.includes("x")));
  return [
    ...changed("function", old.functions, only(now.functions, old.functions), functionText),
    ...changed("variable", exported, only(now.variables, exported), variableText).filter(
      // Leave out differences that depend only on the directory that the shell starts in.
      (difference) => !["variable PWD", "variable OLDPWD"].includes(difference),
    ),
    ...exclusive(old.shopts, now.shopts).map((name) => `shopt ${name}`),
  ];
}

function only<T>(pieces: ReadonlyMap<string, T>, names: ReadonlyMap<string, unknown>): Map<string, T> {
  return new Map([...pieces].filter(([name]) => names.has(name)));
}

function functionText({ flags, body }: FunctionPiece): string {
  return `${flags} ${body}`;
}

function variableText({ flags, assignment }: VariablePiece): string {
  return `${flags} ${assignment}`;
}

/** The differences between a saved state and the state after its restore, as text: `function f`, `variable X`. */
export function differences(before: string, after: string, nonce: string): string[] {
  const [old, now] = [statePieces(before, nonce), statePieces(after, nonce)];
  const dropped = (name: string) => DROPPED_OPTIONS.includes(name);
  return [
    ...changed("function", old.functions, now.functions, functionText),
    ...changed("variable", old.variables, now.variables, variableText).filter(
      // Leave out PWD, which depends on the directory in which the new bash could start, and SECONDS, which depends on
      // the time.
      (difference) => !["variable PWD", "variable SECONDS"].includes(difference),
    ),
    ...changed("alias", old.aliases, now.aliases, (piece) => piece),
    ...changed("trap on", old.traps, now.traps, (piece) => piece).filter((name) => name !== "trap on EXIT"),
    ...changed("hashed command", old.hashed, now.hashed, (piece) => piece),
    ...exclusive(old.shopts, now.shopts).map((name) => `shopt ${name}`),
    ...exclusive(old.options, now.options)
      .filter((name) => !dropped(name))
      .map((name) => `set -o ${name}`),
    ...exclusive(old.disabled, now.disabled).map((name) => `enable -n ${name}`),
    ...(old.umask === now.umask ? [] : ["umask"]),
    ...(old.directoryStack === now.directoryStack ? [] : ["directory stack"]),
  ];
}

function changed<T>(
  kind: string,
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  text: (piece: T) => string,
): string[] {
  const names = [...before.keys(), ...[...after.keys()].filter((name) => !before.has(name))];
  return names
    .filter((name) => {
      const [old, now] = [before.get(name), after.get(name)];
      return old === undefined || now === undefined || text(old) !== text(now);
    })
    .map((name) => `${kind} ${name}`);
}

function exclusive(before: readonly string[], after: readonly string[]): string[] {
  return [
    ...before.filter((name) => !after.includes(name)),
    ...after.filter((name) => !before.includes(name)),
  ];
}

/** Runs one piece in a separate `eval`, so that a syntax error ends only this piece. */
function each(script: string): string {
  return script === "" ? "" : `\\builtin eval ${shellQuote(script)}\n`;
}

function startScript({ shopts, variables }: StatePieces, baseNames: readonly string[]): string[] {
  const unset = [...baseNames, ...FRESH_VARIABLES.split(" ").filter((name) => !variables.has(name))];
  return [
    ...unset.map((name) => `\\builtin unset -v ${name}\n`),
    shoptScript(shopts),
    // A function may contain patterns that bash cannot read without extglob.
    "\\builtin shopt -s extglob\n",
  ];
}

/** Sets the value before the attributes, because an integer or lower-case attribute would change the value. */
function variableScript(name: string, { flags, assignment }: VariablePiece): string {
  const others = flags.replace(/[aA-]/g, "");
  if (flags.includes("n") || others === "" || assignment === name) return `declare -${flags} ${assignment}`;
  const kind = /[aA]/.exec(flags)?.[0] ?? "-";
  const unexport = flags.includes("x") ? "" : `declare +x ${name};`;
  return `${unexport}declare -${kind} ${assignment}\ndeclare -${others} ${name}`;
}

/**
 * Pushes the last element first, because `pushd -n` puts each element directly below the current directory. Uses the
 * variable of the harness.
 */
function directoryStackScript(elements: string, variable: string): string {
  if (elements === "") return "";
  const last = `${variable}[-1]`;
  const push = `\\builtin pushd -n "\${${last}}";\\builtin unset -v '${last}'`;
  return each(
    `${variable}=(${elements});while ((\${#${variable}[@]} > 0)); do ${push}; done;\\builtin unset -v ${variable}`,
  );
}

function functionScripts({ functions }: StatePieces): string[] {
  return [...functions].flatMap(([name, { flags, body }]) => {
    const attributes = flags === "" ? "" : each(`\\builtin declare -f${flags} ${name}`);
    return [each(functionScript(name, { flags, body })), attributes];
  });
}

/**
 * The keyword `function` lets bash read any name. bash prints the unnamed coprocess of a simple command with the name
 * COPROC, but would read that name back as the command. So remove the name.
 */
function functionScript(name: string, { body }: FunctionPiece): string {
  const readable = body.replace(
    /\bcoproc COPROC (?![({]|(?:if|case|for|select|while|until|\[\[)\b)/g,
    "coproc ",
  );
  return `function ${name} ()\n${readable}`;
}

/** `eval` splits the names at blanks. Without `eval`, bash would split them at IFS, which may already be restored. */
function shoptScript(shopts: readonly string[]): string {
  return `\\builtin eval "\\\\builtin shopt -u \${BASHOPTS//:/ }"\n\\builtin shopt -s ${shopts.join(" ")}\n`;
}

function optionScripts(options: readonly string[]): string[] {
  const on = options.filter((name) => !DROPPED_OPTIONS.includes(name) && name !== "posix");
  const off = DEFAULT_OPTIONS.filter((name) => !options.includes(name));
  return [
    ...on.map((name) => `\\builtin set -o ${name}\n`),
    ...off.map((name) => `\\builtin set +o ${name}\n`),
  ];
}

/** The script that restores a hashed path. Adds the quotes that bash omits when it prints the path. */
function hashScript(piece: string): string {
  const [, path = "", name = ""] = /^builtin hash -p (.*) (\S+)\n$/.exec(piece) ?? [];
  return `\\builtin hash -p ${shellQuote(path)} ${shellQuote(name)}`;
}
