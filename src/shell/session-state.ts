// A session's saved state on disk: a script that makes a new bash what the one before was. It is written by
// bash itself after every command (session-harness.ts), into two files in turn; here it is found and read.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { markOf, quoted, type StatePart } from "./session-harness.ts";

/** The file that the state after this command goes to. */
export function stateFile(dir: string, number: number): string {
  return join(dir, `state.${number & 1}`);
}

/** The newest state that is whole: after this command, else after the one before. */
export function readState(dir: string, number: number, nonce: string): string | undefined {
  for (const saved of [number, number - 1]) {
    const text = readQuietly(stateFile(dir, saved));
    const end = markOf({ nonce }, `end ${saved}`);
    const at = text.indexOf(`\n${end}`);
    if (at >= 0) return text.slice(0, at + 1 + end.length);
  }
  return undefined;
}

/** A script that makes a fresh bash what the one before was. */
export function restoreScript(state: string, nonce: string, baseNames: readonly string[]): string {
  const { shopts, options, functions, variables, rest } = partsOf(state, nonce);
  return [
    `\\builtin unset -v ${baseNames.join(" ")}\n`,
    shoptScript(shopts),
    functions,
    variables,
    optionScript(options),
    // Aliases last: the functions were printed with theirs expanded.
    rest,
    // It has run, or should have: it was for the end of the bash that set it.
    "\\builtin trap - EXIT\n",
  ].join("");
}

/** What a background shell takes over: shell options, functions and exports, then variables of its own. */
export function inheritanceScript(
  state: string,
  nonce: string,
  baseNames: readonly string[],
  env: Readonly<Record<string, string>>,
): string {
  const { shopts, functions, variables } = partsOf(state, nonce);
  const exported = declarationsOf(variables).filter(({ flags }) => flags.includes("x"));
  const own = Object.entries(env).map(([name, value]) => `\\builtin export ${name}=${quoted(value)}\n`);
  return [
    "{\n",
    `\\builtin unset -v ${baseNames.join(" ")}\n`,
    shoptScript(shopts),
    functions,
    ...exported.map(({ text }) => text),
    // The state is bytes, read as latin1; so must this be.
    Buffer.from(own.join("")).toString("latin1"),
    "} >/dev/null 2>&1\n",
    // This very file: it is for the first bash only.
    "\\builtin unset BASH_ENV\n",
  ].join("");
}

interface StateParts {
  readonly shopts: readonly string[];
  readonly options: readonly string[];
  readonly functions: string;
  readonly variables: string;
  readonly rest: string;
}

function partsOf(state: string, nonce: string): StateParts {
  const part = (from: StatePart, to?: StatePart) => {
    const start = state.indexOf(markOf({ nonce }, from)) + markOf({ nonce }, from).length;
    return state.slice(start, to === undefined ? undefined : state.indexOf(markOf({ nonce }, to), start));
  };
  const [shopts = "", options = ""] = part("options", "functions").split("\n");
  return {
    shopts: shopts.split(":").filter(Boolean),
    options: options.split(":").filter(Boolean),
    functions: part("functions", "variables"),
    variables: part("variables", "rest"),
    // With the mark of the end, which is a comment.
    rest: part("rest"),
  };
}

/** Before the functions, which may not be readable without them. */
function shoptScript(shopts: readonly string[]): string {
  return `\\builtin shopt -u \${BASHOPTS//:/ }\n\\builtin shopt -s ${shopts.join(" ")}\n`;
}

const DEFAULT_OPTIONS = ["braceexpand", "hashall", "interactive-comments"];
// Each would end the new bash at the next mistake, or keep it from doing anything.
const DROPPED_OPTIONS = ["errexit", "nounset", "xtrace", "noexec", "onecmd"];

function optionScript(options: readonly string[]): string {
  const on = options.filter((name) => !DROPPED_OPTIONS.includes(name));
  const off = DEFAULT_OPTIONS.filter((name) => !options.includes(name));
  return [
    ...on.map((name) => `\\builtin set -o ${name}\n`),
    ...off.map((name) => `\\builtin set +o ${name}\n`),
  ].join("");
}

interface Declaration {
  readonly flags: string;
  readonly text: string;
}

/** What `declare -p` prints, one by one: values may hold line ends, inside quotes. */
export function declarationsOf(printed: string): Declaration[] {
  const found: Declaration[] = [];
  for (let at = 0; at < printed.length; ) {
    const end = endOfDeclaration(printed, at);
    const text = printed.slice(at, end);
    const flags = /^declare -(\S+) /.exec(text)?.[1];
    if (flags !== undefined) found.push({ flags, text });
    at = end;
  }
  return found;
}

/** Behind the first line end that stands in no quotes. */
function endOfDeclaration(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (quote === "") {
      if (char === "\n") return at + 1;
      if (char === '"' || char === "'") quote = char;
    } else if (char === "\\") at++;
    else if (char === quote) quote = "";
  }
  return text.length;
}

/** NAME=VALUE pairs that end with NUL. */
export function readEnvironmentList(path: string): Record<string, string> {
  // Without a prototype: __proto__ is a name like any other.
  const variables: Record<string, string> = Object.create(null);
  for (const pair of readQuietly(path, "utf8").split("\0")) {
    const at = pair.indexOf("=");
    if (at > 0) variables[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return variables;
}

/** A sandboxed bash may have put anything there: a link is not followed, a fifo not waited for. */
function readQuietly(path: string, encoding: BufferEncoding = "latin1"): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return fstatSync(fd).isFile() ? readFileSync(fd, encoding) : "";
  } catch {
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
