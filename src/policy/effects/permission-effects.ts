// Who changes modes, owners and attributes.

import { hasFlag, type OptionTable, readOptions } from "../programs/argv.ts";
import type { EffectiveCommand } from "../shell-model/command.ts";
import type { RawEffect } from "./effect.ts";
import type { EffectKind } from "./effect-kind.ts";

const LONG = [
  "recursive",
  "changes",
  "silent",
  "quiet",
  "verbose",
  "dereference",
  "no-dereference",
  "preserve-root",
  "no-preserve-root",
];
const TABLE: OptionTable = { long: LONG, longValues: ["reference", "from"] };
const ACL: OptionTable = { values: "mMxXbn", longValues: ["modify", "remove", "set", "restore"], long: LONG };

const KINDS: Readonly<Record<string, EffectKind>> = {
  chmod: "mode",
  chown: "owner",
  chgrp: "owner",
  setfacl: "mode",
  chattr: "mode",
  setcap: "mode",
};

export function setsPermissions(program: string): boolean {
  return Object.hasOwn(KINDS, program);
}

export function permissionsOf(command: EffectiveCommand): readonly RawEffect[] {
  const kind = Object.hasOwn(KINDS, command.program) ? KINDS[command.program] : undefined;
  if (kind === undefined) return [];
  // `chmod -x file` and `chmod u-x` are modes, not options.
  const isMode = command.program === "chattr" ? /^-[aAcCdDeFijmPsStTu]+$/ : /^-[rwxXst]+$/;
  const args = /^ch(mod|attr)$/.test(command.program)
    ? command.args.map((arg) => (isMode.test(arg.text) ? { ...arg, text: `a${arg.text}` } : arg))
    : command.args;
  const options = readOptions(args, command.program === "setfacl" ? ACL : TABLE);
  const takesMode = !options.flags.has("reference") && command.program !== "setfacl";
  const mode = takesMode ? (options.operands[0]?.text ?? "") : "";
  const recursive = hasFlag(options, "R", "recursive");
  return options.operands
    .slice(takesMode ? 1 : 0)
    .map((target) => ({ kind, target, recursive, how: meaning(mode, command.program) }));
}

/** Modes that take nothing from the owner and give no other user the right to write. */
const USUAL = /^(0?[67][0145][0145]|(u[+=][rwxX]+|[ugoa]*\+[rX]+|[go]+[=][rX]*|[go]+-[rwx]+)(,|$))+$/;

function meaning(mode: string, program: string): string {
  if (program === "setcap") return "setuid";
  if (program !== "chmod") return program;
  if (/[ug]*[+=][rwxXt]*s/.test(mode) || /^[2467][0-7]{3}$/.test(mode)) return "setuid";
  if (USUAL.test(mode)) return "usual";
  return /^0?[0-7]?[0-7][2367]$|(^|,)[ugo]*[ao]?[+=]\w*w/.test(mode) && !/^[ug]+[+=]/.test(mode)
    ? "open"
    : "mode";
}
