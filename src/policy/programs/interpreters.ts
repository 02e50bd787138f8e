// Interpreters of other languages, and shells.

import type { EffectiveCommand } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { pythonOperands, servedByPhp, servedByPython, servedByRuby } from "./file-servers.ts";
import { printsSettings } from "./print-texts.ts";
import type { Program, ProgramFamily } from "./program-record.ts";
import type { Options, OptionTable } from "./read-options.ts";
import { runInterpreter, runLanguage } from "./runs/interpreter-code.ts";
import { runShell, runSource } from "./runs/shell-scripts.ts";

const runsCode = (options: OptionTable): Program => ({ options, runs: runInterpreter });

/** The options of JavaScript runtimes. The code in nacre/ judges the scripts and packages that a runtime starts. */
export const RUNTIME_OPTIONS: OptionTable = {
  values: "-rC require import env-file loader config conditions",
  code: "-ep eval print",
};
const RUNTIME = runsCode(RUNTIME_OPTIONS);

export const PYTHON_OPTIONS: OptionTable = { values: "-mWX", code: "-c" };
const PYTHON: Program = { ...runsCode(PYTHON_OPTIONS), serves: servedByPython, isVersioned: true };

const RUBY_OPTIONS: OptionTable = { values: "-ICErF", code: "-e" };
const RUBY: Program = { ...runsCode(RUBY_OPTIONS), serves: servedByRuby(RUBY_OPTIONS), isVersioned: true };

const PHP_OPTIONS: OptionTable = { values: "-dcfStz", code: "-rBRE" };

/** Rarely used languages: every argument may be code. */
const LANGUAGES = `raku perl6 sbcl clisp ecl racket clojure clj bb jshell octave octave-cli matlab sage maxima ghci runghc ocaml swipl gprolog dc
bc m4 pwsh powershell nu xonsh elvish gnuplot qjs mujs d8 janet fennel hy factor gforth gs blender gimp bpftrace stap irb pry iex autoconf
java kotlin pdflatex xelatex lualatex latex tex pdftex`;

export const interpreters: ProgramFamily = {
  familiar: `bash dash deno dart elixir erl java julia kotlin lua luajit node perl php python python3 R Rscript ruby
scala sh source . tsx zsh`,
  programs: {
    "python python3": { ...PYTHON, reads: pythonOperands },
    "pypy ipython bpython": PYTHON,
    perl: {
      ...runsCode({ values: "-IMm", code: "-eE" }),
      effects: editedInPlace,
      reads: true,
      isVersioned: true,
    },
    ruby: { ...RUBY, effects: editedInPlace, reads: true },
    jruby: RUBY,
    node: { ...RUNTIME, reads: true },
    "nodejs tsx ts-node": RUNTIME,
    deno: { ...RUNTIME, prints: printsSettings(/\bcompletions?\b/) },
    bun: { ...RUNTIME, wraps: { verb: ["x"], packages: true } },
    php: { ...runsCode(PHP_OPTIONS), serves: servedByPhp(PHP_OPTIONS), isVersioned: true },
    "lua luajit": { ...runsCode({ values: "-l", code: "-e" }), isVersioned: true },
    "R Rscript": runsCode({ code: "-e" }),
    erl: runsCode({ values: "s pa sname name", code: "eval", singleDash: true }),
    ghc: runsCode({ values: "-I", writes: "-o", code: "-e" }),
    osascript: runsCode({ values: "-l", code: "-e" }),
    "tclsh expect julia elixir guile groovy scala swift": {
      ...runsCode({ code: "-ceE" }),
      isVersioned: true,
    },
    "sh bash dash zsh ksh mksh ash rbash fish csh tcsh yash": {
      options: { values: "-oO rcfile init-file" },
      runs: runShell,
      isShell: true,
      isVersioned: true,
    },
    [LANGUAGES]: { runs: runLanguage },
    "source .": { runs: runSource, reads: true },
  },
};

/** The files that perl -i and ruby -i edit: all arguments except the script after -e. */
function editedInPlace({ operands }: Options, { args }: EffectiveCommand): readonly RawEffect[] {
  const edits = args.some(({ text }) => /^-[0-9aclnpsw]*i/.test(text));
  return edits ? effectsOn(operands, "write", { how: "edit" }) : [];
}
