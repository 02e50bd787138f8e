// Programs that print, search and transform text.

import type { EffectiveCommand } from "../shell-model/command.ts";
import { decodeHex } from "../shell-model/decode-text.ts";
import { effectsOn } from "./effect.ts";
import {
  concatenated,
  decodesInput,
  echoed,
  printed,
  printsDecoded,
  reversed,
  transliterated,
} from "./print-texts.ts";
import type { Prints, Program, ProgramFamily } from "./program-record.ts";
import { hasFlag, valuesOf } from "./read-options.ts";
import { runAwk } from "./runs/awk.ts";
import { runSed } from "./runs/sed.ts";

const READS: Program = { reads: true };
const unhex = printsDecoded(/^-\w*p/, decodeHex);

/** grep prints only some lines of its input, unless the call has -v or a pattern that matches every number. */
const SELECTS: Prints = {
  selects: ({ args }) => !args.some(({ text }) => /^-\w*v|^\^?(\[0-9\]|\\d|\[\[:digit:\]\])/.test(text)),
};
const SELECTS_BY_SCRIPT: Prints = {
  selects: ({ args }) => args.some(({ text }) => /\/[^/]+\/|~|==|NR|^\d+p$/.test(text)),
};

const AWK: Program = {
  options: { values: "-Fvfi file assign include field-separator", code: "-e source" },
  runs: runAwk,
  prints: SELECTS_BY_SCRIPT,
};
/** With `-i inplace`, awk edits the operands after its program. */
const GAWK: Program = {
  ...AWK,
  effects: (options) => {
    if (!valuesOf(options, "-i include").some(({ text }) => text === "inplace")) return [];
    return effectsOn(options.operands.slice(hasFlag(options, "-fe") ? 0 : 1), "write", { how: "edit" });
  },
  reads: true,
};

const SED: Program = {
  options: { values: "-efl expression file line-length", flags: "in-place" },
  effects: (options) => {
    if (!hasFlag(options, "-i in-place")) return [];
    const hasScript = hasFlag(options, "-ef expression file");
    return effectsOn(options.operands.slice(hasScript ? 0 : 1), "write", { how: "edit" });
  },
  runs: runSed,
};

export const textTools: ProgramFamily = {
  familiar: `[ : ack ag awk b2sum base32 base64 basename bat batcat cat cksum cmp column comm cut delta diff dirname echo
egrep expand expr false fgrep fmt fold fzf gawk grep head hexdump iconv join jq md5sum nl numfmt od paste
pathchk pr printenv printf read readlink realpath rev rg sed seq sha1sum sha256sum sha512sum shasum shuf sort split
strings sum tac tail test tr true unexpand uniq wc xxd yes yq`,
  programs: {
    cat: { reads: true, prints: { text: concatenated } },
    "tac bat batcat nl od hexdump strings cut rgrep jq diff cmp paste fold fmt column": READS,
    uniq: {
      options: { values: "-fsw" },
      effects: ({ operands }) => effectsOn(operands.slice(1), "write"),
      reads: true,
    },
    yq: {
      options: { values: "-poI", flags: "inplace" },
      effects: (options) =>
        effectsOn(hasFlag(options, "-i inplace") ? options.operands.slice(1) : [], "write"),
      reads: true,
    },
    "grep egrep fgrep": { reads: true, prints: SELECTS },
    head: { reads: true, prints: SELECTS },
    tail: { reads: true, prints: { selects: selectsEnd } },
    "comm fzf": { prints: SELECTS },
    rg: {
      options: { values: "-egtTfAmBCjMEr pre-glob", runs: "pre hostname-bin" },
      reads: true,
      prints: SELECTS,
    },
    ag: { options: { runs: "pager" }, reads: true, prints: SELECTS },
    sort: { options: { values: "-kStT", writes: "-o output", runs: "compress-program" }, reads: true },
    split: {
      options: { values: "-blnaC bytes lines number suffix-length additional-suffix", runs: "filter" },
      effects: ({ operands }) => effectsOn(operands.slice(1), "write", { how: "prefix" }),
      reads: true,
    },
    csplit: {
      options: { values: "-bnf digits suffix-format", writes: "prefix" },
      effects: (options) => effectsOn(valuesOf(options, "-f"), "write"),
      reads: true,
    },
    tree: { options: { values: "-LPI filelimit charset sort", writes: "-o" } },
    shuf: { options: { values: "-nie", writes: "-o output" }, reads: true },
    sdiff: { options: { values: "-wI", writes: "-o output" } },
    iconv: { options: { values: "-ft from-code to-code", writes: "-o output" }, reads: true },
    "ctags etags": { options: { values: "-LRI languages exclude", writes: "-of" } },
    sed: { ...SED, reads: true, prints: SELECTS_BY_SCRIPT },
    gsed: SED,
    "awk gawk": GAWK,
    mawk: { ...AWK, reads: true },
    "nawk busybox-awk": AWK,
    base64: { reads: true, prints: { ...decodesInput, text: printsDecoded(/^(-d|-D|--d\w*|-di|-id)$/) } },
    base32: { reads: true, prints: decodesInput },
    xxd: {
      options: { values: "-cglosn" },
      effects: ({ operands }) => effectsOn(operands.slice(1), "write"),
      reads: true,
      prints: {
        ...decodesInput,
        text: (command, scope, where) =>
          command.args.some(({ text }) => /^-\w*r/.test(text)) ? unhex(command, scope, where) : null,
      },
    },
    rev: { reads: true, prints: { text: reversed } },
    tr: { prints: { text: transliterated } },
    echo: { prints: { text: echoed } },
    printf: { prints: { text: printed } },
    "true :": { prints: { text: () => "" } },
    yes: { prints: { origins: () => ["endless"] } },
    pandoc: { options: { values: "-frtwM from to", writes: "-o output" }, reads: true },
    "msgfmt xgettext msgmerge": { options: { values: "-DdLk", writes: "-o output-file" } },
  },
};

/** Whether `tail` prints only the last lines. `tail -n +2` omits only a heading. */
function selectsEnd(command: EffectiveCommand): boolean {
  if (command.args.some(({ text }) => /^(-n ?|--lines=)?\+\d+$/.test(text))) return false;
  return SELECTS.selects?.(command) ?? true;
}
