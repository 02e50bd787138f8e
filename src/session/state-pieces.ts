// Splits the saved state of a session into pieces: one function, variable, alias, trap or option each. Also splits what
// bash prints about itself (`declare -p`, `alias -p`, `trap -p`). Accepts text, or bytes as latin1. Pure.

export type StatePart = "options" | "functions" | "bodies" | "variables" | "rest" | `end ${number}`;

/** Separates the parts of a saved state. No command can have printed it, because it contains the nonce. */
export function markOf(nonce: string, part: StatePart): string {
  return `#nacre ${nonce} ${part}\n`;
}

export interface VariablePiece {
  readonly flags: string;
  /** NAME=VALUE as bash prints it, or NAME alone. */
  readonly assignment: string;
}

export interface FunctionPiece {
  /** `x` exported, `t` traced. */
  readonly flags: string;
  /** Everything after the line with the name. */
  readonly body: string;
}

/** All pieces except options are listed by name. */
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
  /** The directories that `pushd` put below the current one, as the elements of an array; empty if there are none. */
  readonly directoryStack: string;
  /** The disabled builtins. */
  readonly disabled: readonly string[];
}

// bash sets these itself, so nacre neither restores nor compares them.
const OF_BASH = new Set(
  (
    "BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_LINENO BASH_MONOSECONDS " +
    "BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION COMP_WORDBREAKS DIRSTACK EPOCHREALTIME " +
    "EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO PIPESTATUS PPID RANDOM SHELLOPTS SRANDOM UID _"
  ).split(" "),
);

export function statePieces(state: string, nonce: string): StatePieces {
  const part = (from: StatePart, to?: StatePart) => {
    const mark = markOf(nonce, from);
    const start = state.indexOf(mark) + mark.length;
    return state.slice(start, to === undefined ? undefined : state.indexOf(markOf(nonce, to), start));
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

/** The directory stack without its first element, which is the current directory. */
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
    // No repeated class on the value: decision 19.
    const [start = "", flags = "", name = ""] = /^declare -(\S+) (?=(\w+))/.exec(piece) ?? [];
    if (name === "" || name === own || OF_BASH.has(name) || !piece.endsWith("\n")) continue;
    found.set(name, { flags, assignment: piece.slice(start.length, -1) });
  }
  return found;
}

/**
 * `names` is the output of `declare -F`, `bodies` that of `declare -f`, in the same order. A body can contain other
 * names.
 */
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

/** Where the line with a function's name begins and ends. bash prints `function` before a name that is a keyword. */
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

/** Splits the text into declarations, aliases and traps, each with its newline. Quoted values can contain newlines. */
export function piecesOf(printed: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < printed.length; ) {
    const end = endOfPiece(printed, at);
    pieces.push(printed.slice(at, end));
    at = end;
  }
  return pieces;
}

/** The position after the first newline outside quotes. */
function endOfPiece(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    switch (text[at]) {
      case "\n":
        return at + 1;
      case "\\":
        at++;
        break;
      case '"':
        at = closing(text, at + 1, '"', true);
        break;
      case "'":
        // A backslash is an escape character in $'…', but not in '…'.
        at = closing(text, at + 1, "'", text[at - 1] === "$");
        break;
    }
  }
  return text.length;
}

function closing(text: string, from: number, quote: string, escapes: boolean): number {
  let at = from;
  while (at < text.length && text[at] !== quote) at += escapes && text[at] === "\\" ? 2 : 1;
  return at;
}

/** The names in the output of `enable -n`. */
export function disabledBuiltins(pieces: readonly string[]): string[] {
  return pieces.flatMap((piece) => /^enable -n (\S+)\n$/.exec(piece)?.[1] ?? []);
}

/** The text of one word in single quotes, as `alias -p` and `trap -p` print it; undefined if it is anything else. */
export function unquoted(word: string): string | undefined {
  if (word.length < 2 || !word.startsWith("'") || !word.endsWith("'")) return undefined;
  const runs = word.slice(1, -1).split("'\\''");
  return runs.some((run) => run.includes("'")) ? undefined : runs.join("'");
}
