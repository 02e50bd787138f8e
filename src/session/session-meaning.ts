// The state that changes the meaning of a session's next command: functions, aliases, hashed programs, some variables
// and options. bash reports this state with the exit code, but only after a command that may have changed it, because
// such a report takes longer than most commands. Pure.
import type { SessionFacts } from "../policy/shell-model/session-facts.ts";
import { MEANING_VALUE_MAX_CHARS } from "../support/limits.ts";
import { piecesOf, unquoted } from "./state-pieces.ts";

const VARIABLES = [
  ...["HOME", "PWD", "OLDPWD", "CDPATH", "IFS", "PATH", "TMPDIR", "GLOBIGNORE", "ENV", "BASH_ENV"],
] as const;

/** The variables that are part of a session's meaning. */
export const MEANING_VARIABLES: ReadonlySet<string> = new Set(VARIABLES);

/** Fields of a report: the variables, each as `=value`, or empty if unset, then BASHOPTS. */
export const MEANING_FIELDS_COUNT = VARIABLES.length + 1;
export const MEANING_EXPANSIONS = [...VARIABLES.map((name) => `"\${${name}+=$${name}}"`), '"$BASHOPTS"'].join(
  " ",
);

export interface Meaning {
  readonly facts: SessionFacts;
  /** Whether there is a trap (any command can trigger it) or a name reference (it can refer to bash's own tables). */
  readonly isFragile: boolean;
}

/** `printed`: the output of `declare -F`, `declare -pn`, `hash -l`, `alias -p` and `trap -p`. */
function readMeaning(printed: string, own: Pick<SessionFacts, "variables" | "shellOptions">): Meaning {
  const functions: string[] = [];
  const aliases: Record<string, string> = Object.create(null);
  const hashed: Record<string, string> = Object.create(null);
  let isFragile = false;
  for (const piece of piecesOf(printed)) {
    if (/^declare -[^f ]*n|^trap /.test(piece)) isFragile = true;
    else if (piece.startsWith("declare ")) functions.push(/^declare \S+ (.*)\n$/s.exec(piece)?.[1] ?? "");
    else if (piece.startsWith("builtin hash ")) readHashed(piece, hashed, functions);
    else if (piece.startsWith("alias ")) readAlias(piece, aliases, functions);
  }
  return { facts: { functions, aliases, hashed, ...own }, isFragile };
}

/** The report as bash sent it. Lacks `printed` if only variables and options may have changed. */
export interface MeaningReport {
  readonly printed?: string;
  readonly fields: readonly string[];
}

/**
 * The meaning after a command. During the command, the variables of the call (`env`) hid those of the session, which
 * have therefore not changed.
 */
export function meaningAfter(
  { printed, fields }: MeaningReport,
  env: Readonly<Record<string, string>>,
  before: Meaning | undefined,
): Meaning | undefined {
  const own = { variables: variablesOf(fields), shellOptions: optionsOf(fields) };
  const after =
    printed === undefined
      ? before && { ...before, facts: { ...before.facts, ...own } }
      : readMeaning(printed, own);
  if (!after || Object.keys(env).length === 0) return after;
  const variables = { ...after.facts.variables };
  for (const name of Object.keys(env)) {
    const value = before?.facts.variables[name];
    if (value === undefined) delete variables[name];
    else variables[name] = value;
  }
  return { ...after, facts: { ...after.facts, variables } };
}

/** The traps in the output of `trap -p` that are off between commands. */
export function silencedTraps(printed: string): string {
  if (printed === "") return "";
  return piecesOf(printed)
    .filter((piece) => /^trap .* (?:RETURN|DEBUG)\n$/s.test(piece))
    .map((piece) => `\\builtin ${piece}`)
    .join("");
}

function readHashed(piece: string, hashed: Record<string, string>, functions: string[]): void {
  const [, path = "", name] = /^builtin hash -p (\S+) (\S+)\n$/.exec(piece) ?? [];
  // The path contains a blank, so it is unclear where the path ends: treat the name like a function, whose effect is
  // unknown.
  if (name === undefined) functions.push(/(\S*)\n$/.exec(piece)?.[1] ?? "");
  else hashed[name] = path;
}

function readAlias(piece: string, aliases: Record<string, string>, functions: string[]): void {
  const [, name = "", quotedText = ""] = /^alias (?:-- )?([^=]+)=(.*)\n$/s.exec(piece) ?? [];
  const text = unquoted(quotedText);
  // If the text cannot be read, treat the name like a function, whose effect is unknown.
  if (text === undefined || text.length > MEANING_VALUE_MAX_CHARS) functions.push(name);
  else aliases[name] = text;
}

/** Omits values that are too long. The policy treats an omitted value as unknown. */
function variablesOf(fields: readonly string[]): Record<string, string | null> {
  const variables: Record<string, string | null> = {};
  for (const [index, name] of VARIABLES.entries()) {
    const field = fields[index] ?? "";
    if (field === "") variables[name] = null;
    else if (field.length <= MEANING_VALUE_MAX_CHARS) variables[name] = field.slice(1);
  }
  return variables;
}

function optionsOf(fields: readonly string[]): string[] {
  return (fields[VARIABLES.length] ?? "").split(":").filter(Boolean);
}

/** How much of the next command's meaning a command can change, judging by its text. */
export type MeaningChange = "nothing" | "variables" | "everything";

const OF_VARIABLES = new Set(
  "cd pushd popd export declare typeset readonly local set shopt printf read let wait".split(" "),
);
const BUILTINS_AND_KEYWORDS = new Set(
  (
    ". alias bg bind break builtin caller command compgen complete compopt continue dirs disown enable eval exec fc fg " +
    "getopts hash help history logout mapfile readarray return shift source suspend trap ulimit umask unalias unset " +
    "if then elif else fi case esac for select while until do done in function time coproc"
  ).split(" "),
);
/** Definitions, arithmetic, expansions that assign, and names of bash's own tables. */
const UNUSUAL = /\(\s*\)|\(\(|\$\{(?!\w+\})|\$\[|`|PATH|BASH/;

/**
 * Checks every position where a command may begin, even inside quotes. Text that matches UNUSUAL can change everything.
 * So can a function, an alias, a name in BUILTINS_AND_KEYWORDS, or text that is not a plain name.
 */
export function meaningChange(command: string, before: Meaning | undefined): MeaningChange {
  if (!before || before.isFragile || UNUSUAL.test(command)) return "everything";
  const { functions, aliases } = before.facts;
  const redefined = new Set([...functions, ...Object.keys(aliases)]);
  let change: MeaningChange = "nothing";
  for (const part of command.split(/[;&|()\n]/)) {
    const [, assignments = "", rest = ""] = /^\s*((?:\w+\+?=\S*\s*)*)(.*)$/.exec(part) ?? [];
    if (assignments !== "") change = "variables";
    // Skip the end of a quoted word, and a comment.
    if (/^(?:#.*|["'\])}\s]*)$/.test(rest)) continue;
    const [, name] = /^([\w.+:[/-]+)(?=\s|$)/.exec(rest) ?? [];
    if (name === undefined || redefined.has(name) || BUILTINS_AND_KEYWORDS.has(name)) return "everything";
    if (OF_VARIABLES.has(name)) change = "variables";
  }
  return change;
}
