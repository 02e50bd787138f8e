// At a start, nacre defines only the command group that lists the given command. If a group defines a command that it
// does not list, nacre does not find this command.
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { COMMAND_GROUPS, createProgram } from "../../src/cli/program.ts";

const optionsFor = (...args: string[]) => ({ io: {} as never, args, done: () => {}, runLine: async () => 0 });
const namesOf = ({ commands }: Command) =>
  commands.flatMap((command) => [command.name(), ...command.aliases()]);
const namesFor = (...args: string[]) => namesOf(createProgram(optionsFor(...args)));
const all = COMMAND_GROUPS.flatMap(({ names }) => names);

describe.each(COMMAND_GROUPS.map((group) => [group.names[0] ?? "", group] as const))(
  "the group of %s",
  (_, group) => {
    test("lists the commands that it defines", () => {
      const program = new Command().enablePositionalOptions();
      group.define(program, optionsFor());
      expect(namesOf(program).sort()).toEqual([...group.names].sort());
    });

    test.each(group.names)(
      "is the only defined group for %s, unless that command needs all groups",
      (name) => {
        expect(namesFor(name, "--help").sort()).toEqual([...(group.needsAll ? all : group.names)].sort());
      },
    );
  },
);

test.each([[], ["help"], ["--help"], ["nothing-like-this"], [""]])(
  "the command line %j defines every command",
  (...args) => {
    expect(namesFor(...args).sort()).toEqual([...all].sort());
  },
);
