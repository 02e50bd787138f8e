// The saved state of a session in its pieces: each function, variable, alias, trap and option on its own, so that one
// that bash cannot read back takes no other with it. Bytes as latin1. Pure.
import { disabledBuiltins, piecesOf } from "./bash-pieces.ts";
import { markOf, type StatePart } from "./session-harness.ts";

export interface VariablePiece {
  readonly flags: string;
  /** NAME=VALUE as bash prints it, or NAME alone. */
  readonly assignment: string;
}

export interface FunctionPiece {
  /** `x` exported, `t` traced. */
  readonly flags: string;
  /** Everything behind the line with the name. */
  readonly body: string;
}

/** By name, but for options. */
export interface StatePieces {
  readonly shopts: readonly string[];
  readonly options: readonly string[];
  readonly functions: ReadonlyMap<string, FunctionPiece>;
  readonly variables: ReadonlyMap<string, VariablePiece>;
  /** As bash prints them. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly traps: ReadonlyMap<string, string>;
  readonly hashed: ReadonlyMap<string, string>;
  readonly umask: string;
  /** What `pushd` has put below the directory of now, as the elements of an array; empty for nothing. */
  readonly directoryStack: string;
  /** Builtins that are disabled. */
  readonly disabled: readonly string[];
}

// Set by bash itself, each time anew or as it likes: neither restored nor compared.
const OF_BASH = new Set(
  (
    "BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_LINENO BASH_MONOSECONDS " +
    "BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION COMP_WORDBREAKS DIRSTACK EPOCHREALTIME " +
    "EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO PIPESTATUS PPID RANDOM SHELLOPTS SRANDOM UID _"
  ).split(" "),
);

export function statePieces(state: string, nonce: string): StatePieces {
  const part = (from: StatePart, to?: StatePart) => {
    const mark = markOf({ nonce }, from);
    const start = state.indexOf(mark) + mark.length;
    return state.slice(start, to === undefined ? undefined : state.indexOf(markOf({ nonce }, to), start));
  };
  const [shopts = "", options = ""] = part("options", "functions").split("\n");
  const rest = piecesOf(part("rest"));
  return {
    shopts: shopts.split(":").filter(Boolean),
    options: options.split(":").filter(Boolean),
    functions: functionsOf(part("functions", "bodies"), part("bodies", "variables")),
    variables: variablesOf(part("variables", "rest"), `__nacre_${nonce}`),
    aliases: named(rest, /^alias (?:-- )?([^=]+)=/),
    traps: named(rest, /^trap .* (\S+)\n$/s),
    hashed: named(rest, /^builtin hash -p .* (\S+)\n$/),
    umask: rest.find((piece) => /^umask \d+\n$/.test(piece)) ?? "",
    directoryStack: directoryStackIn(rest),
    disabled: [...new Set(disabledBuiltins(rest))],
  };
}

/** Without the first element, which is the directory of now. */
function directoryStackIn(pieces: readonly string[]): string {
  const piece = pieces.find((one) => /^declare -a\S* DIRSTACK=/.test(one)) ?? "";
  return DIRECTORY_STACK.exec(piece)?.[1] ?? "";
}

const DIRECTORY_STACK = /=\(\[0\]=(?:"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*') (.*)\)\n$/s;

function named(pieces: readonly string[], pattern: RegExp): Map<string, string> {
  return new Map(
    pieces.flatMap((piece) => {
      const name = pattern.exec(piece)?.[1];
      return name === undefined ? [] : [[name, piece] as const];
    }),
  );
}

function variablesOf(printed: string, own: string): Map<string, VariablePiece> {
  const found = new Map<string, VariablePiece>();
  for (const piece of piecesOf(printed)) {
    const [, flags = "", assignment = "", name = ""] = /^declare -(\S+) ((\w+).*)\n$/s.exec(piece) ?? [];
    if (name !== "" && name !== own && !OF_BASH.has(name)) found.set(name, { flags, assignment });
  }
  return found;
}

/** `names` by `declare -F`, in the order of the bodies by `declare -f`. A body may hold any text, also what looks like the next name. */
function functionsOf(names: string, bodies: string): Map<string, FunctionPiece> {
  const found = new Map<string, FunctionPiece>();
  const list = names.split("\n").flatMap((line) => {
    const [, flags = "", name] = /^declare -f(\S*) (.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ flags, name }];
  });
  let start = startOf(bodies, list[0]?.name, 0);
  for (const [index, { flags, name }] of list.entries()) {
    const next = startOf(bodies, list[index + 1]?.name, start.body);
    found.set(name, { flags, body: bodies.slice(start.body, next.header) });
    start = next;
  }
  return found;
}

/** Where the line with a name begins, and what comes after it. bash puts `function` before names that are keywords. */
function startOf(bodies: string, name: string | undefined, from: number): { header: number; body: number } {
  if (name !== undefined) {
    for (const header of [`${name} () \n`, `function ${name} () \n`]) {
      if (from === 0 && bodies.startsWith(header)) return { header: 0, body: header.length };
      const at = bodies.indexOf(`\n${header}`, Math.max(0, from - 1));
      if (at >= 0) return { header: at + 1, body: at + 1 + header.length };
    }
  }
  return { header: bodies.length, body: bodies.length };
}
