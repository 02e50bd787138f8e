// The ways to start nacre: by its name, by a file of its package, through a runtime, or through a package manager.

import { changeDirectory } from "../../paths/paths.ts";
import type { EffectiveCommand, Field } from "../../shell-model/command.ts";
import { isUnresolved, shown, UNKNOWN } from "../../shell-model/marks.ts";
import { NACRE_OPTIONS } from "../agents.ts";
import { RUNTIME_OPTIONS } from "../interpreters.ts";
import { isKnownProgram } from "../programs.ts";
import { hasFlag, readOptions } from "../read-options.ts";
import { packageOf } from "./package-name.ts";

const VERBS = /^(run|mcp|approve|deny|forget|send|attach|kill|init|ui)$/;

/** The arguments of a nacre call, however nacre is started. Null for any other program. */
export function nacreArguments(command: EffectiveCommand): readonly Field[] | null {
  const { program, called, args } = command;
  if (program === "nacre") return args;
  if (RUNTIMES.has(program)) return argumentsOfScript(command) ?? argumentsOfPackage(args);
  if (MANAGERS.has(program)) return argumentsOfPackage(args);
  return called.includes("/") ? argumentsAfter({ text: called }, args, command) : null;
}

/** Whether the program can run any script or package. */
export function runsScripts(program: string): boolean {
  return RUNTIMES.has(program) || MANAGERS.has(program) || /^(python|pypy)[\d.]*$/.test(program);
}

export const RUNTIMES: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "tsx", "ts-node", "deno"]);
const MANAGERS: ReadonlySet<string> = new Set(
  "npm pnpm yarn yarnpkg npx pnpx bunx corepack volta ni nr nlx dx".split(" "),
);

/** First arguments of a runtime that are subcommands, not scripts: `deno run`, `bun x`, `tsx watch`. */
const RUNTIME_VERBS = /^(run|x|watch|serve|exec)$/;

function argumentsOfScript(command: EffectiveCommand): readonly Field[] | null {
  const [script, ...words] = scriptArguments(command);
  return script ? argumentsAfter(script, words, command) : null;
}

/** The script that a runtime starts, with its arguments. Empty if the runtime runs code from its command line. */
export function scriptArguments({ program, args }: EffectiveCommand): readonly Field[] {
  const options = readOptions(args, RUNTIME_OPTIONS, "at-operand");
  if (hasFlag(options, RUNTIME_OPTIONS.code ?? "")) return [];
  const { operands } = options;
  const hasVerb = /^(deno|bun|tsx)$/.test(program) && RUNTIME_VERBS.test(operands[0]?.text ?? "");
  return hasVerb ? readOptions(operands.slice(1), RUNTIME_OPTIONS, "at-operand").operands : operands;
}

/** Matches nacre's program file in the package and in the repository, and scripts below a directory named nacre. */
const SCRIPTS =
  /(^|\/)((main|start)(\.[cm]?[jt]s)?|nacre(\.[cm]?js)?)$|(^|\/)nacre(@[^/]*)?\/.*\.[cm]?[jt]s$/;

/** The arguments of a script or package, if it belongs to nacre. */
function argumentsAfter(
  script: Pick<Field, "text">,
  words: readonly Field[],
  { cwds }: EffectiveCommand,
): readonly Field[] | null {
  if (packageOf(script.text) === "nacre") return isCall(words, true) ? words : null;
  const isScript = SCRIPTS.test(changeDirectory(script.text, cwds[0] ?? UNKNOWN));
  return isScript && isCall(words, false) ? words : null;
}

/**
 * The arguments after the package name, or after `start`, nacre's script in its repository. Options may precede them.
 */
function argumentsOfPackage(args: readonly Field[]): readonly Field[] | null {
  for (const [i, { text }] of args.entries()) {
    const isPackage = packageOf(text) === "nacre";
    if (!isPackage && text !== "start") continue;
    const words = args.slice(args[i + 1]?.text === "--" ? i + 2 : i + 1);
    if (isCall(words, isPackage)) return words;
  }
  return null;
}

/**
 * Whether the arguments begin with a subcommand of nacre. If the program is certainly nacre, an unknown subcommand
 * counts too.
 */
function isCall(words: readonly Field[], isNacre: boolean): boolean {
  const [verb] = readOptions(words, NACRE_OPTIONS).operands;
  return verb !== undefined && (VERBS.test(verb.text) || (isNacre && isUnresolved(verb.text)));
}

/** An option that would loosen the rules if this unknown program or script were nacre; null if there is none. */
export function nacreLikeOption({ program, args }: EffectiveCommand): string | null {
  if (!runsScripts(program) && isKnownProgram(program)) return null;
  const words = args.filter(({ text }) => text !== "--");
  const { flags, values, operands } = readOptions(words, NACRE_OPTIONS);
  // In `npm run` and `bun run`, the first `run` is not a subcommand of nacre.
  const own = runsScripts(program) ? operands.slice(1) : operands;
  if (!own.some(({ text }) => text === "run" || text === "mcp")) return null;
  const policy = values.get("policy")?.find(({ text }) => /^(off|trusting)$/.test(text));
  if (policy) return `--policy ${shown(policy.text)}`;
  return flags.has("allow-unsandboxed") ? "--allow-unsandboxed" : null;
}
