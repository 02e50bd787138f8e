// Shell escapes of editors, viewers and clients: vim's :!, ed's !, less's +!, .shell of sqlite3.

import type { EffectiveCommand, Field } from "../../shell-model/command.ts";
import { inSameProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";

/** Walks the shell text that the first or second group of the pattern matches in arguments and stdin. */
export function shellEscapes(pattern: RegExp): RunsCommand {
  return (command, around, runner) => {
    const inside = inSameProcess(around, command.program);
    for (const { text, span } of textsOf(command)) {
      for (const [, shell = "", called = ""] of text.matchAll(pattern)) {
        runner.sign("runs-program", span, `${command.program} runs a shell command`);
        runner.runText(shell || called, { ...inside, span });
      }
    }
    return null;
  };
}

/** The shell escapes of mail, ftp and telnet. */
export const MAIL_ESCAPES = shellEscapes(/(?:^|\n)~?!\s*([^\n]+)/g);

function textsOf({ args, stdin, span }: EffectiveCommand): readonly Field[] {
  return stdin.text !== null && stdin.connected ? [...args, { text: stdin.text, span }] : args;
}
