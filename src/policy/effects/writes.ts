// Who writes into files it is given: tee, dd, sed -i, truncate, downloads and the like.

import { hasFlag, readOptions, valuesOf } from "../programs/argv.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import type { RawEffect } from "./effect.ts";

type Write = (command: EffectiveCommand) => readonly RawEffect[];

const writing = (targets: readonly Field[], how = ""): readonly RawEffect[] =>
  targets.map((target) => ({ kind: "write", target, how }));

const WRITES: Readonly<Record<string, Write>> = {
  tee: ({ args }) => {
    const options = readOptions(args, { long: ["append", "ignore-interrupts"] });
    const kind = hasFlag(options, "a", "append") ? "append" : "write";
    return options.operands.map((target) => ({ kind, target }));
  },
  mount: ({ args }) => {
    const binds = args.some(({ text }) => /^(--r?bind|-B|--move|-M)$|(^|,)r?bind(,|$)/.test(text));
    return binds ? writing(readOptions(args, { values: "ot" }).operands.slice(-1), "mount") : [];
  },
  sponge: ({ args }) => writing(readOptions(args).operands),
  dd: copiesRaw,
  dcfldd: copiesRaw,
  dc3dd: copiesRaw,
  ddrescue: ({ args }) => writing(readOptions(args, { values: "biostcKmrTI" }).operands.slice(1), "dd"),
  buffer: ({ args }) => writing(valuesOf(readOptions(args, { values: "iobsmpuz" }), "o"), "dd"),
  truncate: ({ args }) => {
    const options = readOptions(args, { values: "sro", longValues: ["size", "reference"] });
    const empties = valuesOf(options, "s", "size").some(({ text }) => /^0\w*$/.test(text));
    return writing(options.operands, empties ? "truncate" : "resize");
  },
  sed: ({ args }) => {
    const options = readOptions(args, {
      values: "efl",
      longValues: ["expression", "file", "line-length"],
      long: ["in-place"],
    });
    if (![...options.flags].some((flag) => flag === "i" || flag === "in-place")) return [];
    const hasScript = hasFlag(options, "e", "f", "expression", "file");
    return writing(options.operands.slice(hasScript ? 0 : 1), "edit");
  },
  perl: inPlace,
  ruby: inPlace,
  awk: awkInPlace,
  gawk: awkInPlace,
  "qemu-img": ({ args }) =>
    /^(convert|dd|create)$/.test(args[0]?.text ?? "")
      ? writing(readOptions(args.slice(1), { values: "fOoStTmnl" }).operands.slice(-1), "image")
      : [],
  curl: ({ args }) =>
    writing(
      valuesOf(readOptions(args, { values: "oHXduAeTFbcxCKmr", longValues: ["output"] }), "o", "output"),
    ),
  wget: ({ args }) =>
    writing(
      valuesOf(
        readOptions(args, { values: "OoPUqt", longValues: ["output-document"] }),
        "O",
        "output-document",
      ),
    ),
  sort: ({ args }) =>
    writing(valuesOf(readOptions(args, { values: "koStT", longValues: ["output"] }), "o", "output")),
  find: ({ args }) =>
    args.flatMap(({ text }, i) =>
      /^-f(print0?|printf|ls)$/.test(text) ? writing(args.slice(i + 1, i + 2)) : [],
    ),
  mkfifo: ({ args }) =>
    readOptions(args, { values: "m" }).operands.map((target) => ({ kind: "append", target })),
  mkdir: ({ args }) =>
    readOptions(args, { values: "m" }).operands.map((target) => ({ kind: "append", target, how: "mkdir" })),
  touch: ({ args }) =>
    readOptions(args, { values: "drt" }).operands.map((target) => ({ kind: "append", target, how: "touch" })),
  patch: ({ args }) => writing(readOptions(args, { values: "piodrDVzBF" }).operands.slice(0, 1), "edit"),
  visudo: ({ args }) =>
    valuesOf(readOptions(args, { values: "f" }), "f").map((target) => ({ kind: "write", target })),
  ex: editsFile,
  vi: editsFile,
  vim: editsFile,
  nvim: editsFile,
  tar: ({ args }) => {
    const [mode, file] = args;
    if (/^-?[a-zA-Z]*[cru][a-zA-Z]*f$/.test(mode?.text ?? "")) return file ? writing([file], "archive") : [];
    const options = readOptions(args, {
      values: "fCIFTXbgHKLNV",
      longValues: ["file", "directory", "exclude"],
    });
    return hasFlag(options, "c", "create", "r", "append")
      ? writing(valuesOf(options, "f", "file"), "archive")
      : [];
  },
  ed: editsFile,
  pv: ({ args }) =>
    writing(valuesOf(readOptions(args, { values: "ioLBsDN", longValues: ["output"] }), "o", "output")),
};

export function writes(program: string): boolean {
  return program === "gsed" || Object.hasOwn(WRITES, program);
}

export function writesOf(command: EffectiveCommand): readonly RawEffect[] {
  const name = command.program === "gsed" ? "sed" : command.program;
  return Object.hasOwn(WRITES, name) ? (WRITES[name]?.(command) ?? []) : [];
}

function copiesRaw({ args }: EffectiveCommand): readonly RawEffect[] {
  const targets = args.filter(({ text }) => /^h?of=/.test(text));
  return writing(
    targets.map((arg) => ({ ...arg, text: arg.text.slice(arg.text.indexOf("=") + 1) })),
    "dd",
  );
}

/** perl -i and ruby -i; the script is the value of -e, everything else is a file. */
function inPlace({ args }: EffectiveCommand): readonly RawEffect[] {
  const edits = args.some(({ text }) => /^-[0-9aclnpsw]*i/.test(text));
  if (!edits) return [];
  return writing(readOptions(args, { values: "eEIMm" }).operands, "edit");
}

function awkInPlace({ args }: EffectiveCommand): readonly RawEffect[] {
  const options = readOptions(args, {
    values: "ivFfe",
    longValues: ["include", "assign", "field-separator"],
  });
  if (!valuesOf(options, "i", "include").some(({ text }) => text === "inplace")) return [];
  return writing(options.operands.slice(hasFlag(options, "f", "e") ? 0 : 1), "edit");
}

function editsFile({ program, args, stdin }: EffectiveCommand): readonly RawEffect[] {
  const options = readOptions(args, { values: "pcST" });
  const scripts = valuesOf(options, "c").map(({ text }) => text);
  const starts = args.filter(({ text }) => text.startsWith("+")).map(({ text }) => text.slice(1));
  const saves = [...scripts, ...starts].some((text) =>
    /(^|\|)[\s:]*(w|wq|x|xit|update|wall|wqa)!?\s*(\||$)/.test(text),
  );
  const types = stdin.text === null || /(^|\n)\s*(w|wq|x)/.test(stdin.text);
  if (!saves && (/vim?$/.test(program) || !types)) return [];
  return writing(options.operands.filter(({ text }) => !text.startsWith("+")).slice(0, 1), "edit");
}
