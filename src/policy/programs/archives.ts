// Programs that pack and unpack files.

import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { decodesInput } from "./print-texts.ts";
import type { Program, ProgramFamily } from "./program-record.ts";
import { hasFlag, type Options, type OptionTable, readOptions, valuesOf } from "./read-options.ts";
import { runOptionTexts } from "./runs/option-texts.ts";

const TAR: OptionTable = {
  values: "-fCTXbgHKLNV file directory exclude",
  runs: "-IF to-command use-compress-program checkpoint-action info-script new-volume-script rsh-command rmt-command",
};
const BSDTAR: OptionTable = { values: "-fCIFTXbgHKLNV file directory exclude" };

/** A program that replaces each file with its compressed form. */
const PACKER: Program = {
  options: { values: "-S suffix" },
  effects: (options) =>
    hasFlag(options, "-cklt stdout keep list test")
      ? []
      : effectsOn(options.operands, "delete", { how: "pack" }),
};

export const archives: ProgramFamily = {
  familiar: "bunzip2 bzip2 cpio gunzip gzip tar unxz unzip xz zcat zip",
  programs: {
    tar: {
      options: TAR,
      effects: (options, { args }) => [
        ...packedAway(options),
        ...unpacked(args, TAR),
        ...effectsOn(archivesWritten(options, args), "write", { how: "archive" }),
      ],
      reads: true,
    },
    bsdtar: { options: BSDTAR, effects: (_options, { args }) => unpacked(args, BSDTAR), reads: true },
    unzip: {
      options: { values: "-dxP" },
      effects: (options) =>
        effectsOn(valuesOf(options, "-d").slice(0, 1), "write", { recursive: true, how: "extract" }),
    },
    zip: {
      options: { values: "-bnPtx", runs: "unzip-command" },
      effects: (options) => [
        ...effectsOn(options.operands.slice(0, 1), "write", { how: "archive" }),
        ...effectsOn(hasFlag(options, "-m move") ? options.operands.slice(1) : [], "delete", {
          recursive: true,
        }),
      ],
      runs: runZipTest,
      reads: true,
    },
    "gzip bzip2 xz": { ...PACKER, reads: true },
    lzma: PACKER,
    cpio: {
      options: { values: "-FHCDE file directory format", flags: "pass-through" },
      effects: (options) => [
        ...effectsOn(hasFlag(options, "-p pass-through") ? options.operands.slice(-1) : [], "write", {
          recursive: true,
          how: "extract",
        }),
        ...effectsOn(valuesOf(options, "-D directory"), "write", { recursive: true, how: "extract" }),
      ],
    },
    "7z 7za 7zz 7zr": {
      effects: (_options, { args }) => {
        const operands = args.filter(({ text }) => !text.startsWith("-"));
        const into = args.flatMap((arg) =>
          /^-o./.test(arg.text) ? [{ ...arg, text: arg.text.slice(2) }] : [],
        );
        const deletes = args.some(({ text }) => text === "-sdel");
        return [
          ...effectsOn(into, "write", { recursive: true, how: "extract" }),
          ...effectsOn(/^[au]$/.test(operands[0]?.text ?? "") ? operands.slice(1, 2) : [], "write", {
            how: "archive",
          }),
          ...effectsOn(deletes ? operands.slice(2) : [], "delete", { recursive: true }),
        ];
      },
      reads: true,
    },
    zstd: { options: { values: "-D", writes: "-o" }, reads: true },
    "gunzip zcat": { prints: decodesInput },
  },
};

function packedAway(options: Options): readonly RawEffect[] {
  if (!options.flags.has("remove-files")) return [];
  const [directory] = valuesOf(options, "-C directory");
  const targets = options.operands.map((target) => (directory ? inDirectory(directory, target) : target));
  return effectsOn(targets, "delete", { recursive: true });
}

function inDirectory(directory: Field, target: Field): Field {
  return target.text.startsWith("/") ? target : { ...target, text: `${directory.text}/${target.text}` };
}

/** The effect of unpacking on the directory after -C. Treats `tar xf` like `tar -xf`. */
function unpacked(args: readonly Field[], table: OptionTable): readonly RawEffect[] {
  const [first] = args;
  const bundled =
    first && !first.text.startsWith("-") ? [{ ...first, text: `-${first.text}` }, ...args.slice(1)] : args;
  const options = readOptions(bundled, table);
  if (!hasFlag(options, "-x extract get")) return [];
  return effectsOn(valuesOf(options, "-C directory"), "write", { recursive: true, how: "extract" });
}

function archivesWritten(options: Options, [mode, file]: readonly Field[]): readonly Field[] {
  if (/^-?[a-zA-Z]*[cru][a-zA-Z]*f$/.test(mode?.text ?? "")) return file ? [file] : [];
  return hasFlag(options, "-cr create append") ? valuesOf(options, "-f file") : [];
}

/** Runs the command in `zip -T -TT command`, which tests the archive. */
function runZipTest(command: EffectiveCommand, around: CommandContext, runner: Runner): null {
  const at = command.args.findIndex(({ text }) => text === "-TT");
  if (at >= 0) runOptionTexts(command.args.slice(at + 1, at + 2), command, around, runner);
  return null;
}
