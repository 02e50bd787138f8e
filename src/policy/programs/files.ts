// Programs that create, copy, move, link and delete files.

import { changeDirectory } from "../paths/paths.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import { flowOf } from "../shell-model/flow.ts";
import { isCertain, UNKNOWN } from "../shell-model/marks.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { leavesCopies, leavesDirectories } from "./left-paths.ts";
import { setsId } from "./permissions.ts";
import type { Program, ProgramFamily } from "./program-record.ts";
import { hasFlag, type Options, type OptionTable, splitAtLastWord, valuesOf } from "./read-options.ts";

const COPY: OptionTable = {
  values: "-tS target-directory suffix",
  flags:
    "recursive archive force no-target-directory no-dereference symbolic symbolic-link link relative parents",
};

const RM: Program = {
  options: {
    flags: "recursive force interactive verbose dir no-preserve-root preserve-root one-file-system",
  },
  effects: (options) =>
    effectsOn(options.operands, "delete", { recursive: hasFlag(options, "-rR recursive") }),
};

const SHRED: Program = {
  options: { values: "-nsi iterations size random-source", flags: "remove zero force verbose exact" },
  effects: ({ operands }) => effectsOn(operands, "delete", { how: "shred" }),
};

const DD: Program = {
  effects: (_options, command) => copiesRaw(command),
  leaves: (_options, command, scope) => {
    const isCopy = command.args.some(({ text }) => text.startsWith("if="));
    for (const { target } of copiesRaw(command))
      if (!isCopy) scope.files.set(inFirst(command.cwds, target.text), command.stdin);
  },
};

export const files: ProgramFamily = {
  familiar:
    "cp dd df du file install ln ls mkdir mkfifo mktemp mv ncdu rename rm rmdir shred stat sync tee touch tree truncate unlink",
  programs: {
    "rm grm": RM,
    rimraf: { effects: ({ operands }) => effectsOn(operands, "delete", { recursive: true }) },
    "trash-put": {
      effects: ({ operands }) => effectsOn(operands, "delete", { recursive: true, how: "trash" }),
    },
    unlink: { effects: (_options, { args }) => effectsOn(args, "delete") },
    rmdir: { effects: ({ operands }) => effectsOn(operands, "delete", { how: "empty" }) },
    "shred wipe srm": SHRED,
    mv: {
      options: COPY,
      effects: (options) => {
        const { sources, targets } = transferred(options);
        return [
          ...effectsOn(sources, "move", { recursive: true }),
          ...placed(sources, targets, { how: "replace" }),
        ];
      },
      leaves: leavesCopies,
    },
    cp: {
      options: COPY,
      effects: (options) => {
        const { sources, targets } = transferred(options);
        return [
          ...effectsOn(sources, "read"),
          ...(hasFlag(options, "-l link") ? hardLinked(sources) : []),
          ...placed(sources, targets, { recursive: hasFlag(options, "-rRa recursive archive") }),
        ];
      },
      leaves: leavesCopies,
    },
    ln: {
      options: COPY,
      effects: (options) => {
        const { sources, targets } = transferred(options);
        const named = sources.length === 0 ? options.operands : sources;
        const isName = hasFlag(options, "-nT no-dereference no-target-directory");
        return [
          ...(hasFlag(options, "-s symbolic") ? [] : hardLinked(named)),
          ...placed(isName ? [] : sources, targets, { how: "replace" }),
        ];
      },
      leaves: leavesCopies,
    },
    link: {
      effects: ({ operands }) => [
        ...hardLinked(operands.slice(0, 1)),
        ...placed([], operands.slice(1, 2), { how: "replace" }),
      ],
      leaves: leavesCopies,
    },
    install: {
      options: { values: "-tSmog target-directory suffix mode owner group" },
      effects: (options) => {
        const isSetId = valuesOf(options, "-m mode").some(({ text }) => setsId(text));
        const { sources, targets } = transferred(options);
        const isDirectory = hasFlag(options, "-d directory");
        const written = isDirectory
          ? effectsOn(options.operands, "append", { how: "mkdir" })
          : placed(sources, targets, { how: "replace" });
        return [
          ...(isDirectory ? [] : effectsOn(sources, "read")),
          ...written,
          ...(isSetId
            ? effectsOn(
                written.map((effect) => effect.target),
                "mode",
                { how: "setuid" },
              )
            : []),
        ];
      },
      leaves: leavesCopies,
    },
    mkdir: {
      options: { values: "-m mode", flags: "parents" },
      effects: ({ operands }) => effectsOn(operands, "append", { how: "mkdir" }),
      leaves: leavesDirectories,
    },
    mkfifo: {
      options: { values: "-m mode" },
      effects: ({ operands }) => effectsOn(operands, "append"),
      leaves: leavesPipes,
    },
    mknod: { options: { values: "-m mode" }, leaves: leavesPipes },
    touch: {
      options: { values: "-drt" },
      effects: ({ operands }) => effectsOn(operands, "append", { how: "touch" }),
    },
    truncate: {
      options: { values: "-sro size reference" },
      effects: (options) => {
        const empties = valuesOf(options, "-s size").some(({ text }) => /^0\w*$/.test(text));
        return effectsOn(options.operands, "write", { how: empties ? "truncate" : "resize" });
      },
    },
    tee: {
      options: { flags: "append ignore-interrupts" },
      effects: (options) => effectsOn(options.operands, hasFlag(options, "-a append") ? "append" : "write"),
      reads: true,
      prints: { text: ({ stdin }) => stdin.text },
      leaves: ({ operands }, { stdin, cwds }, scope) => {
        for (const { text } of operands) scope.files.set(inFirst(cwds, text), stdin);
      },
    },
    sponge: { effects: ({ operands }) => effectsOn(operands, "write") },
    dd: { ...DD, reads: true },
    "dcfldd dc3dd": DD,
    ddrescue: {
      options: { values: "-biostcKmrTI" },
      effects: ({ operands }) => effectsOn(operands.slice(1), "write"),
    },
    buffer: { options: { values: "-ibsmpuz", writes: "-o" } },
    pv: { options: { values: "-iLBsDN", writes: "-o output" } },
  },
};

const inFirst = (cwds: readonly string[], text: string): string => changeDirectory(text, cwds[0] ?? UNKNOWN);

/** Records FIFOs that the command creates. What a later command reads from them is unknown. */
function leavesPipes({ operands }: Options, { cwds }: EffectiveCommand, scope: Scope): void {
  for (const { text } of operands) scope.files.set(inFirst(cwds, text), flowOf(null));
}

function transferred(options: Options): {
  readonly sources: readonly Field[];
  readonly targets: readonly Field[];
} {
  const { operands } = options;
  const [directory] = valuesOf(options, "-t target-directory");
  if (directory) return { sources: operands, targets: [directory] };
  const { before, last } = splitAtLastWord(operands);
  return { sources: before, targets: before.length > 0 ? last : [] };
}

/** The paths that may be written: each target, and the name of each source inside it if the target is a directory. */
function placed(
  sources: readonly Field[],
  targets: readonly Field[],
  { recursive = false, how = "copy" }: Pick<RawEffect, "recursive" | "how">,
): readonly RawEffect[] {
  const names = sources
    .map(({ text }) => text.slice(text.lastIndexOf("/") + 1))
    .filter((name) => isCertain(name) && !/^\.{0,2}$/.test(name));
  return targets.flatMap((target) => {
    const inside = names.map((name) => ({ ...target, text: `${target.text}/${name}` }));
    return [...effectsOn([target], "write", { recursive, how }), ...effectsOn(inside, "write", { how })];
  });
}

/** The effects of a hard link: later commands can read and write the file through this second name. */
function hardLinked(sources: readonly Field[]): readonly RawEffect[] {
  return sources.flatMap((source) => [
    ...effectsOn([source], "read"),
    ...effectsOn([source], "append", { how: "link" }),
  ]);
}

function copiesRaw({ args }: EffectiveCommand): readonly RawEffect[] {
  const targets = args.filter(({ text }) => /^h?of=/.test(text));
  return effectsOn(
    targets.map((arg) => ({ ...arg, text: arg.text.slice(arg.text.indexOf("=") + 1) })),
    "write",
  );
}
