// Finds the inner command of a wrapper, as `wraps` in its record describes, and walks it.

import { shellQuote } from "../../../support/shell-quote.ts";
import { changeDirectory } from "../../paths/paths.ts";
import type {
  AssignedValue,
  CommandContext,
  EffectiveCommand,
  Field,
  Runner,
} from "../../shell-model/command.ts";
import type { Flow } from "../../shell-model/flow.ts";
import { inSameProcess } from "../../shell-model/nested-context.ts";
import { PACKAGE_PROGRAMS } from "../agents.ts";
import type { Program, Wrapper } from "../program-record.ts";
import { hasFlag, type OptionTable, readOptions, valuesOf } from "../read-options.ts";

interface InnerCommand {
  readonly argv: readonly Field[];
  readonly assignments: readonly AssignedValue[];
  /** The directory the inner program starts in, if the wrapper sets one. */
  readonly directory: Field | null;
  /** Shell text that runs instead of an argv. */
  readonly text: Field | null;
}

export function runWrapped(
  command: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
  { wraps, options = {} }: Program,
): Flow | null {
  const inner = wraps ? innerCommandOf(command, wraps, options) : null;
  if (!inner) return null;
  // `command cd` and `builtin cd` change the directory of this shell.
  const scope = /^(command|builtin)$/.test(command.called) ? around.scope : around.scope.fork();
  for (const { name, value } of inner.assignments) scope.assign(name, [value]);
  const { directory } = inner;
  if (directory) scope.move((cwd) => changeDirectory(directory.text, cwd));
  const assignments = [...around.assignments, ...inner.assignments];
  // Pass on the redirections and stdin: the inner program inherits the wrapper's input and output.
  const { redirects, stdin } = around;
  const inside = { ...inSameProcess(around, command.program), scope, assignments, stdin, redirects };
  if (inner.text) return runner.runText(inner.text.text, { ...inside, span: inner.text.span });
  return runner.runArgv(inner.argv, inside);
}

/** The inner command, or null if the wrapper runs nothing. */
function innerCommandOf(
  command: EffectiveCommand,
  wrapper: Wrapper,
  table: OptionTable,
): InnerCommand | null {
  const verbless = afterVerb(command.args, wrapper);
  if (verbless === null) return null;
  // `env -` is `env -i`.
  const args = verbless[0]?.text === "-" ? verbless.slice(1) : verbless;
  const options = readOptions(args, table, "at-operand");
  if (wrapper.asks !== undefined && hasFlag(options, wrapper.asks)) return null;
  const [directory = null] = valuesOf(options, wrapper.directory ?? "");
  const { assignments, rest } = takeAssignments(afterOperands(options.operands, wrapper), wrapper);
  const text = textOf(command, wrapper, table, rest);
  if (text === null && rest.length === 0) return null;
  const argv = wrapper.packages ? withProgramOf(rest) : rest;
  return { argv: text ? [] : argv, assignments, directory, text };
}

/** Replaces the name of a package with that of its program: `nacre@latest`, `@openai/codex`. */
function withProgramOf(argv: readonly Field[]): readonly Field[] {
  const [first, ...rest] = argv;
  if (!first) return argv;
  const name = first.text.replace(/^npm:/, "").replace(/(?<=.)@[^/]*$/, "");
  const program = Object.hasOwn(PACKAGE_PROGRAMS, name) ? PACKAGE_PROGRAMS[name] : undefined;
  return [{ ...first, text: program ?? name }, ...rest];
}

function afterVerb(args: readonly Field[], { verb }: Wrapper): readonly Field[] | null {
  if (!verb) return args;
  const at = args.findIndex(({ text }) => !text.startsWith("-"));
  if (at < 0) return null;
  for (const words of verb.map((one) => one.split(" "))) {
    if (words.every((word, i) => args[at + i]?.text === word)) return args.slice(at + words.length);
  }
  return null;
}

function afterOperands(operands: readonly Field[], { skip = 0, may }: Wrapper): readonly Field[] {
  // A wrapper accepts `--` even after its own operands.
  const from = operands[skip]?.text === "--" ? skip + 1 : skip;
  const rest = operands.slice(from);
  return may?.test(rest[0]?.text ?? "") ? rest.slice(1) : rest;
}

function takeAssignments(rest: readonly Field[], { assigns }: Wrapper) {
  const count = assigns ? rest.findIndex(({ text }) => !/^\w+=/.test(text)) : 0;
  const end = count < 0 ? rest.length : count;
  const assignments = rest.slice(0, end).map(({ text, span }): AssignedValue => {
    const equal = text.indexOf("=");
    return { name: text.slice(0, equal), value: text.slice(equal + 1), span };
  });
  return { assignments, rest: rest.slice(end) };
}

/** The shell text that the wrapper runs: the value of an option, or the joined remaining arguments. */
function textOf(
  command: EffectiveCommand,
  wrapper: Wrapper,
  table: OptionTable,
  rest: readonly Field[],
): Field | null {
  if (wrapper.text !== undefined) {
    const isEnv = command.program === "env";
    const options = readOptions(command.args, table, isEnv ? "at-operand" : "at-end");
    const [first] = valuesOf(options, wrapper.text);
    if (!first) return null;
    // `env -S` splits its value and appends the remaining arguments.
    const tail = isEnv ? rest.map(({ text }) => ` ${shellQuote(text)}`).join("") : "";
    return { ...first, text: first.text + tail };
  }
  const [head] = rest;
  if (!wrapper.joins || !head) return null;
  // `npm:dev:*` means scripts of the project, not a program.
  const texts = rest.map(({ text }) => text.replace(/^(npm|pnpm|yarn|bun|node):(?=\S+$)/, "$1 run "));
  return { ...head, text: texts.join(wrapper.joins === "blanks" ? " " : "\n") };
}
