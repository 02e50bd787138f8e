// An unknown program whose arguments contain a destructive command is probably a wrapper. The policy judges these
// arguments as a command. If the policy would deny that command, the verdict is only `ask`, because the guess can be
// wrong.

import { isKnownProgram, isWrapper } from "./programs/programs.ts";
import type { EffectiveCommand } from "./shell-model/command.ts";

const DESTRUCTIVE =
  /^(.*\/)?(rm|dd|mv|chmod|chown|chgrp|shred|mkfs(\..+)?|wipefs|kill|reboot|shutdown|halt|poweroff|tee|truncate|find|(ba|da|z)?sh)$/;

/** The command that an unknown program may run, or null. */
export function forwardedCommand(command: EffectiveCommand): EffectiveCommand | null {
  if (isKnownProgram(command.program) || isWrapper(command.program)) return null;
  const at = command.args.findIndex(({ text }) => DESTRUCTIVE.test(text));
  const program = command.args[at];
  if (at < 0 || !program || at === command.args.length - 1) return null;
  const name = program.text.slice(program.text.lastIndexOf("/") + 1);
  return {
    ...command,
    program: name,
    called: program.text,
    args: command.args.slice(at + 1),
    redirects: [],
    assignments: [],
  };
}
