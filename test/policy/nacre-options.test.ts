// The policy reads nacre's command line as nacre does. If the policy did not know an option, it would mistake the value
// of the option for the command and not judge the command itself.
import type { Command, Option } from "commander";
import { expect, test } from "vitest";
import type { CliIo } from "../../src/cli/cli-io.ts";
import { createProgram } from "../../src/cli/program.ts";
import { NACRE_OPTIONS } from "../../src/policy/programs/agents.ts";
import { readOptions } from "../../src/policy/programs/read-options.ts";

/** Defining the options uses only the directory. */
const io = { cwd: "/" } as CliIo;
const program = createProgram({ io, args: [], done: () => {} });

const commandsBelow = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(commandsBelow),
];
const options = commandsBelow(program).flatMap((command) => command.options);
const namesOf = ({ short, long }: Option) =>
  [short, long].flatMap((name) => (name === undefined || name === null ? [] : [name]));
const takesValue = ({ required, optional }: Option) => required || optional;
const withValue = new Set(options.filter(takesValue).flatMap(namesOf));
const flags = new Set(options.filter((option) => !takesValue(option)).flatMap(namesOf));

/** Returns the operands that the policy reads in `OPTION value rest`. */
function operandsAfter(option: string): string {
  const words = [option, "value", "rest"].map((text) => ({ text, span: { start: 0, end: 0 } }));
  return readOptions(words, NACRE_OPTIONS)
    .operands.map(({ text }) => text)
    .join(" ");
}

test("the policy knows every option of nacre that takes a value", () => {
  expect([...withValue]).toContain("--audit-file");
  expect([...withValue].filter((name) => operandsAfter(name) !== "rest")).toEqual([]);
});

test("the policy reads no value after a flag of nacre", () => {
  expect([...flags]).toContain("--allow-unsandboxed");
  expect([...flags].filter((name) => operandsAfter(name) !== "value rest")).toEqual([]);
});
