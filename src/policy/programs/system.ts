// Programs that show or change the machine, its processes and its terminals.

import { POLICY_WIDE_RANGE_COUNT } from "../../support/limits.ts";
import { EACH, SOMETHING, UNKNOWN } from "../shell-model/marks.ts";
import { effectsOn } from "./effect.ts";
import {
  lastPartOf,
  listedNames,
  listsProcesses,
  named,
  namesProcesses,
  parentOf,
  printedDirectories,
  printsSettings,
  TEMPORARY,
  temporary,
  withoutLinks,
} from "./print-texts.ts";
import type { Program, ProgramFamily } from "./program-record.ts";
import { type OptionTable, readOptions, valuesOf } from "./read-options.ts";
import { runAt, runCrontab } from "./runs/deferred.ts";
import { historyFile, runHistory } from "./runs/history.ts";
import { runBind, runScreen, runTmux } from "./runs/terminals.ts";

/** A program that prints an unknown number or name. */
const SOME: Program = { prints: { text: () => `${SOMETHING}\n` } };

/** The options of pgrep and pkill that take a value. Most of these options select processes by an attribute. */
const SELECTION: OptionTable = { values: "-uUgGPstFd signal euid uid user group parent session" };

export const system: ProgramFamily = {
  familiar: `alias bg break cal cd clear continue cowsay crontab date declare dircolors dirs disown dmesg enable eval exit export
factor fc fg figlet free getent getopts groups hash help history hostname htop id jobs journalctl kill killall let local
locale logger logname lsblk lscpu lsof lspci lsusb mapfile mkfs.ext4 mount nproc pgrep pidof pkill popd ps pushd pwd
readarray readonly reboot return select set shift shopt shutdown sleep stty suspend systemctl times tldr tmux top tput
trap tty type typeset ulimit umount unalias uname unset uptime users w wait whatis which who whoami wipefs
convert dot exiftool ffmpeg gnuplot identify latex magick pandoc pdflatex`,
  programs: {
    ls: { prints: { ...listsProcesses(({ args }) => namesProcesses(args)), text: listedNames } },
    ps: {
      prints: listsProcesses(
        ({ args }) => !args.some(({ text }) => /^(-?[pqC]|--pid|--ppid)/.test(text) && !/^p/.test(text)),
      ),
    },
    pidof: {
      prints: listsProcesses(({ args }) => args.some(({ text }) => /^(systemd|init|launchd)$/.test(text))),
    },
    pgrep: {
      options: SELECTION,
      prints: listsProcesses(({ args }) => {
        const [pattern] = readOptions(args, SELECTION).operands;
        return /^([.^$*]|\.\*)*$/.test(pattern?.text ?? "");
      }),
    },
    pkill: { options: SELECTION },
    "killall skill": { options: { values: "-uosyZn signal euid uid user group parent session" } },
    pwd: {
      prints: {
        text: (command) => {
          const [first = UNKNOWN, ...others] = printedDirectories(command);
          return `${others.length === 0 ? first : UNKNOWN}\n`;
        },
        alternatives: printedDirectories,
      },
    },
    mktemp: { options: TEMPORARY, prints: { text: temporary } },
    which: { prints: { text: named } },
    dirname: { prints: { text: parentOf } },
    basename: { prints: { text: lastPartOf } },
    "realpath readlink": { prints: { text: withoutLinks } },
    whoami: {
      prints: {
        text: (_command, _scope, { isRoot, home }) => `${isRoot ? "root" : (home.split("/").at(-1) ?? "")}\n`,
      },
    },
    "date nproc uname hostname": SOME,
    seq: {
      prints: {
        text: ({ args }) => `${Number(args.at(-1)?.text) >= POLICY_WIDE_RANGE_COUNT ? EACH : SOMETHING}\n`,
      },
    },
    gh: { reads: true, prints: printsSettings(/\bcompletions?\b/), sends: {} },
    mount: {
      options: { values: "-ot" },
      effects: ({ operands }, { args }) => {
        const binds = args.some(({ text }) => /^(--r?bind|-B|--move|-M)$|(^|,)r?bind(,|$)/.test(text));
        return binds ? effectsOn(operands.slice(-1), "write", { how: "mount" }) : [];
      },
    },
    ffmpeg: {
      options: {
        values: "i f c ss t to r s b vf af map vn an crf preset threads loglevel y n",
        singleDash: true,
      },
      effects: ({ operands }) => effectsOn(operands.slice(-1), "write"),
    },
    "mogrify jpegoptim optipng pngquant dos2unix unix2dos": {
      options: { values: "-m" },
      effects: ({ operands }) => effectsOn(operands, "write", { how: "edit" }),
    },
    "rename prename": { effects: ({ operands }) => effectsOn(operands.slice(1), "move") },
    "convert magick sox ps2pdf pdftoppm cwebp qpdf": {
      options: { writes: "-o" },
      effects: ({ operands }) => effectsOn(operands.slice(1).slice(-1), "write"),
    },
    pdftotext: {
      options: { values: "-flr" },
      effects: ({ operands }) => effectsOn(operands.slice(1), "write"),
    },
    exiftool: {
      effects: ({ operands }, { args }) =>
        effectsOn(args.some(({ text }) => /^-\w+[+-]?=/.test(text)) ? operands : [], "write", {
          how: "edit",
        }),
    },
    visudo: { options: { writes: "-f" } },
    tcpdump: { options: { values: "-iwrcsCGWZF", runs: "-z" } },
    "at batch": { options: { values: "-fqt" }, runs: runAt },
    crontab: { runs: runCrontab },
    tmux: { runs: runTmux },
    screen: { runs: runScreen },
    bind: {
      options: { values: "-fmqrux" },
      effects: (options) => effectsOn(valuesOf(options, "-f"), "read"),
      runs: runBind,
    },
    history: { options: { values: "-d" }, effects: historyFile, runs: runHistory },
  },
};
