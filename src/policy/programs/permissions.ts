// Programs that change modes, owners and attributes.

import type { EffectiveCommand } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import type { EffectKind } from "./effect-kind.ts";
import type { Program, ProgramFamily } from "./program-record.ts";
import { hasFlag, type Options, type OptionTable, readOptions } from "./read-options.ts";

const CHANGE: OptionTable = {
  values: "reference from",
  flags: "recursive changes silent quiet verbose dereference no-dereference preserve-root no-preserve-root",
};

const changes = (kind: EffectKind): Program => ({
  options: CHANGE,
  effects: (options, command) => withMode(kind, options, command),
});

/** For programs with modes that look like options: `chmod -x file`, `chattr -i file`. */
const changesMode = (mode: RegExp): Program => ({
  options: CHANGE,
  effects: (_options, command) => {
    const args = command.args.map((arg) => (mode.test(arg.text) ? { ...arg, text: `a${arg.text}` } : arg));
    return withMode("mode", readOptions(args, CHANGE), command);
  },
});

export const permissions: ProgramFamily = {
  familiar: "chgrp chmod chown umask",
  programs: {
    chmod: changesMode(/^-[rwxXst]+$/),
    chattr: changesMode(/^-[aAcCdDeFijmPsStTu]+$/),
    setcap: changes("mode"),
    "chown chgrp": changes("owner"),
    setfacl: {
      options: { ...CHANGE, values: "-mMxXbn modify remove set restore" },
      effects: (options) => effectsOn(options.operands, "mode", { recursive: isRecursive(options) }),
    },
  },
};

const isRecursive = (options: Options): boolean => hasFlag(options, "-R recursive");

/** The first operand is the mode or the owner, unless --reference names a file whose mode or owner is copied. */
function withMode(kind: EffectKind, options: Options, { program }: EffectiveCommand): readonly RawEffect[] {
  const [mode, ...rest] = options.operands;
  const hasReference = options.flags.has("reference");
  const how = meaning(hasReference ? "" : (mode?.text ?? ""), program);
  return effectsOn(hasReference ? options.operands : rest, kind, { recursive: isRecursive(options), how });
}

/** Modes that keep all rights of the owner and let no other user write. */
const USUAL = /^(0?[67][0145][0145]|(u[+=][rwxX]+|[ugoa]*\+[rX]+|[go]+[=][rX]*|[go]+-[rwx]+)(,|$))+$/;

/** Whether the mode lets a program run with the rights of its owner or its group. */
export function setsId(mode: string): boolean {
  return /[ug]*[+=][rwxXt]*s/.test(mode) || /^0*[2-7][0-7]{3}$/.test(mode);
}

function meaning(mode: string, program: string): string {
  if (program === "setcap") return "setuid";
  if (program !== "chmod") return program;
  if (setsId(mode)) return "setuid";
  if (USUAL.test(mode)) return "usual";
  return /^0?[0-7]?[0-7][2367]$|(^|,)[ugo]*[ao]?[+=]\w*w/.test(mode) && !/^[ug]+[+=]/.test(mode)
    ? "open"
    : "mode";
}
