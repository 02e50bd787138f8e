// Who deletes what: rm and its kin, find -delete, rsync --delete.

import { hasFlag, readOptions, valuesOf } from "../programs/argv.ts";
import { foundPaths, readFind } from "../programs/finders.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import type { RawEffect } from "./effect.ts";

type Deletion = (command: EffectiveCommand) => readonly RawEffect[];

const RM = {
  long: [
    "recursive",
    "force",
    "interactive",
    "verbose",
    "dir",
    "no-preserve-root",
    "preserve-root",
    "one-file-system",
  ],
};

const DELETIONS: Readonly<Record<string, Deletion>> = {
  rm: ({ args }) => {
    const options = readOptions(args, RM);
    const recursive = hasFlag(options, "r", "R", "recursive");
    return options.operands.map((target) => ({ kind: "delete", target, recursive }));
  },
  grm: (command) => DELETIONS["rm"]?.(command) ?? [],
  rimraf: ({ args }) =>
    readOptions(args).operands.map((target) => ({ kind: "delete", target, recursive: true })),
  "trash-put": ({ args }) =>
    readOptions(args).operands.map((target) => ({ kind: "delete", target, recursive: true, how: "trash" })),
  unlink: ({ args }) => args.map((target) => ({ kind: "delete", target })),
  rmdir: ({ args }) => readOptions(args).operands.map((target) => ({ kind: "delete", target, how: "empty" })),
  gzip: packed,
  bzip2: packed,
  xz: packed,
  lzma: packed,
  shred: shredded,
  wipe: shredded,
  srm: shredded,
  tar: ({ args }) => {
    if (!args.some(({ text }) => text === "--remove-files")) return [];
    const options = readOptions(args, {
      values: "fCIFTXbgHKLNV",
      longValues: ["file", "directory", "exclude"],
    });
    const [directory] = valuesOf(options, "C", "directory");
    return options.operands.map((target) => ({
      kind: "delete",
      target: directory ? inDirectory(directory, target) : target,
      recursive: true,
    }));
  },
  git: ({ args }) => {
    const at = args.findIndex(({ text }) => text === "clean");
    const [first] = args;
    const rest = args.slice(at + 1).map(({ text }) => text);
    if (at < 0 || !first || rest.some((text) => /^(-\w*n\w*|--dry-run)$/.test(text))) return [];
    if (!rest.some((text) => /^(-\w*f\w*|--force)$/.test(text))) return [];
    const directory = args[args.findIndex(({ text }) => text === "-C") + 1];
    const target = args[0]?.text === "-C" && directory ? directory : { ...first, text: "." };
    return [{ kind: "delete", target, recursive: true, how: "git" }];
  },
  find: found,
  gfind: found,
  bfs: found,
  rsync: ({ args }) => {
    const options = readOptions(args, {
      values: "efT",
      longValues: ["rsh", "exclude", "include", "exclude-from", "files-from"],
    });
    const target = options.operands.at(-1);
    if (!target || ![...options.flags].some((flag) => /^(del|delete)/.test(flag))) return [];
    return /^[\w.@-]+:/.test(target.text) ? [] : [{ kind: "delete", target, recursive: true, how: "sync" }];
  },
};

export function deletes(program: string): boolean {
  return Object.hasOwn(DELETIONS, program);
}

export function deletionsOf(command: EffectiveCommand): readonly RawEffect[] {
  return Object.hasOwn(DELETIONS, command.program) ? (DELETIONS[command.program]?.(command) ?? []) : [];
}

function inDirectory(directory: Field, target: Field): Field {
  return target.text.startsWith("/") ? target : { ...target, text: `${directory.text}/${target.text}` };
}

/** A packer takes the file away once it is packed. */
function packed({ args }: EffectiveCommand): readonly RawEffect[] {
  const options = readOptions(args, { values: "S", longValues: ["suffix"] });
  if (hasFlag(options, "c", "k", "l", "t", "stdout", "keep", "list", "test")) return [];
  return options.operands.map((target) => ({ kind: "delete", target, how: "pack" }));
}

function shredded({ args }: EffectiveCommand): readonly RawEffect[] {
  const { operands } = readOptions(args, {
    values: "nsi",
    longValues: ["iterations", "size", "random-source"],
    long: ["remove", "zero", "force", "verbose", "exact"],
  });
  return operands.map((target) => ({ kind: "delete", target, how: "shred" }));
}

function found({ args }: EffectiveCommand): readonly RawEffect[] {
  const search = readFind(args);
  if (!search.expression.some(({ text }) => text === "-delete")) return [];
  return foundPaths(search).map((target) => ({ kind: "delete", target, recursive: true, how: "find" }));
}
