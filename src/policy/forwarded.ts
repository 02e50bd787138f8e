// An unknown program with a destructive command behind it, is probably a wrapper: the tail is judged as if it were
// called, and what would be refused is asked about.

import { isKnownProgram, isWrapper } from "./programs/programs.ts";
import type { EffectiveCommand } from "./shell-model/command.ts";

const DESTRUCTIVE =
  /^(.*\/)?(rm|dd|mv|chmod|chown|chgrp|shred|mkfs(\..+)?|wipefs|kill|reboot|shutdown|halt|poweroff|tee|truncate|find|(ba|da|z)?sh)$/;

/** The command an unknown program may hand on, or null. */
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
