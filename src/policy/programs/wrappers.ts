// Programs that run another program: what they would run, by the table of wrapper-table.ts.

import { shellQuote } from "../../support/shell-quote.ts";
import type { AssignedValue, EffectiveCommand, Field } from "../shell-model/command.ts";
import { PACKAGE_PROGRAMS } from "./agent-table.ts";
import { hasFlag, readOptions, valuesOf } from "./argv.ts";
import { WRAPPERS, type Wrapper } from "./wrapper-table.ts";

export interface Peeled {
  readonly argv: readonly Field[];
  readonly assignments: readonly AssignedValue[];
  /** The directory the inner program starts in, if the wrapper sets one. */
  readonly directory: Field | null;
  /** Shell text that runs instead of an argv. */
  readonly text: Field | null;
}

export function isWrapper(program: string): boolean {
  return Object.hasOwn(WRAPPERS, program);
}

/** What the wrapper would run, or null if it runs nothing. */
export function peel(command: EffectiveCommand): Peeled | null {
  const wrapper = Object.hasOwn(WRAPPERS, command.program) ? WRAPPERS[command.program] : undefined;
  if (!wrapper) return null;
  const verbless = afterVerb(command.args, wrapper);
  if (verbless === null) return null;
  // `env -` is `env -i`.
  const args = verbless[0]?.text === "-" ? verbless.slice(1) : verbless;
  const options = readOptions(args, { ...wrapper, stopAtOperand: true });
  if (wrapper.asks && hasFlag(options, ...wrapper.asks)) return null;
  const [directory = null] = wrapper.directory ? valuesOf(options, ...wrapper.directory) : [];
  const { assignments, rest } = takeAssignments(afterOperands(options.operands, wrapper), wrapper);
  const text = textOf(command, wrapper, rest);
  if (text === null && rest.length === 0) return null;
  const argv = wrapper.packages ? withProgramOf(rest) : rest;
  return { argv: text ? [] : argv, assignments, directory, text };
}

/** The argv with the program of a package in its place: `nacre@latest`, `@openai/codex`. */
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
  // After an operand of its own a wrapper may still say where its options end.
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

/** Shell text: the value of an option, wherever it stands, or the joined rest. */
function textOf(command: EffectiveCommand, wrapper: Wrapper, rest: readonly Field[]): Field | null {
  if (wrapper.text) {
    const isEnv = command.program === "env";
    const [first] = valuesOf(
      readOptions(command.args, { ...wrapper, stopAtOperand: isEnv }),
      ...wrapper.text,
    );
    if (!first) return null;
    // `env -S` splits its value and then goes on with the arguments behind it.
    const tail = isEnv ? rest.map(({ text }) => ` ${shellQuote(text)}`).join("") : "";
    return { ...first, text: first.text + tail };
  }
  const [head] = rest;
  if (!wrapper.joins || !head) return null;
  // `npm:dev:*` names scripts of the project, not a program.
  const texts = rest.map(({ text }) => text.replace(/^(npm|pnpm|yarn|bun|node):(?=\S+$)/, "$1 run "));
  return { ...head, text: texts.join(wrapper.joins === "blanks" ? " " : "\n") };
}
