// Who puts something in another's place: mv, cp, ln, install, rsync, and archives that unpack over what is there.

import { hasFlag, type OptionTable, readOptions, valuesOf } from "../programs/argv.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import { isCertain } from "../shell-model/marks.ts";
import type { RawEffect } from "./effect.ts";

type Change = (command: EffectiveCommand) => readonly RawEffect[];

const COPY: OptionTable = {
  values: "tS",
  longValues: ["target-directory", "suffix"],
  long: [
    "recursive",
    "archive",
    "force",
    "no-target-directory",
    "no-dereference",
    "symbolic",
    "symbolic-link",
    "link",
  ],
};
const INSTALL: OptionTable = { values: "tSmog", longValues: ["target-directory", "mode", "owner", "group"] };

const CHANGES: Readonly<Record<string, Change>> = {
  mv: (command) => {
    const { sources, target } = transfer(command, COPY);
    return [
      ...sources.map((source): RawEffect => ({ kind: "move", target: source, recursive: true })),
      ...placed(sources, target, false, "replace"),
    ];
  },
  cp: (command) => {
    const { sources, target, options } = transfer(command, COPY);
    const recursive = hasFlag(options, "r", "R", "a", "recursive", "archive");
    const isLink = hasFlag(options, "l", "link");
    return [
      ...sources.map((source): RawEffect => ({ kind: "read", target: source })),
      ...(isLink ? hardLinked(sources) : []),
      ...placed(sources, target, recursive),
    ];
  },
  ln: (command) => {
    const { sources, target, options } = transfer(command, COPY);
    const isHard = !hasFlag(options, "s", "symbolic");
    const named = sources.length === 0 ? options.operands : sources;
    const isName = hasFlag(options, "n", "T", "no-dereference", "no-target-directory");
    const made = isName ? written(target, false, "replace") : placed(sources, target, false, "replace");
    return [...(isHard ? hardLinked(named) : []), ...made];
  },
  link: ({ args }) => {
    const { operands } = readOptions(args);
    return [...hardLinked(operands.slice(0, 1)), ...written(operands[1], false, "replace")];
  },
  install: (command) => {
    const { sources, target, options } = transfer(command, INSTALL);
    if (hasFlag(options, "d", "directory"))
      return sources.map((source): RawEffect => ({ kind: "append", target: source }));
    return placed(sources, target, false, "replace");
  },
  rsync: ({ args }) => {
    const { operands } = readOptions(args, {
      values: "efT",
      longValues: ["rsh", "exclude", "include", "exclude-from", "files-from"],
    });
    const target = operands.length > 1 ? operands.at(-1) : undefined;
    const moved = args.some(({ text }) => text === "--remove-source-files") ? operands.slice(0, -1) : [];
    return [
      ...moved.map((source): RawEffect => ({ kind: "move", target: source, recursive: true })),
      ...(target && !isRemote(target.text) ? written(target, true) : []),
    ];
  },
  scp: ({ args }) => {
    const { operands } = readOptions(args, { values: "cFiJloPS" });
    const target = operands.at(-1);
    return target && !isRemote(target.text) ? written(target, false) : [];
  },
  tar: unpackedTar,
  bsdtar: unpackedTar,
  unzip: ({ args }) => {
    const [target] = valuesOf(readOptions(args, { values: "dxP" }), "d");
    return target ? [{ kind: "write", target, recursive: true, how: "extract" }] : [];
  },
};

export function changes(program: string): boolean {
  return Object.hasOwn(CHANGES, program);
}

export function changesOf(command: EffectiveCommand): readonly RawEffect[] {
  return Object.hasOwn(CHANGES, command.program) ? (CHANGES[command.program]?.(command) ?? []) : [];
}

export function isRemote(text: string): boolean {
  return /^([\w.-]+@)?[\w.-]+:(?!\/\/)|^rsync:\/\//.test(text);
}

function transfer({ args }: EffectiveCommand, table: OptionTable) {
  const options = readOptions(args, table);
  const [directory] = valuesOf(options, "t", "target-directory");
  const sources = directory ? options.operands : options.operands.slice(0, -1);
  const target = directory ?? (options.operands.length > 1 ? options.operands.at(-1) : undefined);
  return { sources, target, options };
}

/** A target that is a directory gets each source under its own name. Whether it is one is not known. */
function placed(
  sources: readonly Field[],
  target: Field | undefined,
  recursive: boolean,
  how: "copy" | "replace" = "copy",
): readonly RawEffect[] {
  if (!target) return [];
  const inside = sources.flatMap(({ text }): readonly RawEffect[] => {
    const name = text.slice(text.lastIndexOf("/") + 1);
    if (!isCertain(name) || /^\.{0,2}$/.test(name)) return [];
    const field = { ...target, text: `${target.text}/${name}` };
    return [{ kind: "write", target: field, recursive: false, how }];
  });
  return [...written(target, recursive, how), ...inside];
}

function written(
  target: Field | undefined,
  recursive: boolean,
  how: "copy" | "replace" = "copy",
): readonly RawEffect[] {
  return target ? [{ kind: "write", target, recursive, how }] : [];
}

/** A hard link is a second name by which the file can be read and written. */
function hardLinked(sources: readonly Field[]): readonly RawEffect[] {
  return sources.flatMap((target): readonly RawEffect[] => [
    { kind: "read", target },
    { kind: "append", target, how: "link" },
  ]);
}

function unpackedTar({ args }: EffectiveCommand): readonly RawEffect[] {
  const [first] = args;
  const bundled =
    first && !first.text.startsWith("-") ? [{ ...first, text: `-${first.text}` }, ...args.slice(1)] : args;
  const options = readOptions(bundled, {
    values: "fCIFTXbgHKLNV",
    longValues: ["directory", "file", "exclude"],
  });
  if (!hasFlag(options, "x", "extract", "get")) return [];
  return valuesOf(options, "C", "directory").map((target) => ({
    kind: "write",
    target,
    recursive: true,
    how: "extract",
  }));
}
