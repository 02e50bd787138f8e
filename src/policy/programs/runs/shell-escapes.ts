// Commands that editors, viewers and clients run from inside: vim's :!, ed's !, less's +!, .shell of sqlite3.

import { type EffectiveCommand, type Field, insideOf } from "../../shell-model/command.ts";
import type { RunsCommand } from "../program-record.ts";

/** Runs what the pattern's first or second group finds in the arguments and the input. */
export function shellEscapes(pattern: RegExp): RunsCommand {
  return (command, around, runner) => {
    const inside = insideOf(around, command.program);
    for (const { text, span } of textsOf(command)) {
      for (const [, shell = "", called = ""] of text.matchAll(pattern)) {
        runner.sign("runs-program", span, `${command.program} runs a command from inside`);
        runner.runText(shell || called, { ...inside, span });
      }
    }
    return null;
  };
}

/** Of mail, ftp and telnet. */
export const MAIL_ESCAPES = shellEscapes(/(?:^|\n)~?!\s*([^\n]+)/g);

function textsOf({ args, stdin, span }: EffectiveCommand): readonly Field[] {
  return stdin.text !== null && stdin.connected ? [...args, { text: stdin.text, span }] : args;
}
