// Package managers, build tools and version managers, with the commands that they run.

import type { EffectiveCommand } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { printsSettings } from "./print-texts.ts";
import type { Program, ProgramFamily, Wrapper } from "./program-record.ts";
import type { Options } from "./read-options.ts";
import { runCmakeTool, runMake, runNewScripts } from "./runs/deferred.ts";

const wrapping = (values: string, wraps: Wrapper): Program => ({ options: { values }, wraps });
const verbs = (...verb: readonly string[]): Program => ({ wraps: { verb } });

const VERSION = /^(v?\d[\w.]*|node|default|lts\/.*)$/;
const COMPLETION = printsSettings(/\bcompletions?\b/);
const HOOKS = printsSettings(/^(hook|init|activate|export) /);
const VERSION_SHIMS = printsSettings(/^(init|virtualenv-init|completion|--alias)\b/);
const SHELL_ENVIRONMENT = printsSettings(/^(env|shellenv|path|-\w+|)/);
const CONDA_SHELL = printsSettings(/^shell[. ]/);

const COMPILERS = "gcc g++ cc c++ clang clang++ tcc icc nvcc rustc ocamlopt ocamlc as nasm yasm";

export const packageManagers: ProgramFamily = {
  familiar: `apropos apt apt-cache apt-get ava astro bazel biome bison black brew bun bunx bundle c++ cabal cargo cc changeset
clang clang++ cmake commitlint composer crystal ctest cypress dotnet drizzle-kit esbuild eslint expo flake8 flex flutter
g++ gcc gem ghc go gofmt gradle gradlew husky isort javac jest just kotlinc ld ldd lein lint-staged make meson mix mocha
mvn mypy next ng nim ninja nm nox npm npx nuxt objdump oxlint parcel pip pip3 pipenv playwright pnpm poe poetry
pre-commit prettier prisma protoc pylint pyright pytest rails rake readelf rollup ruff rustc rustup sbt shellcheck shfmt
stack strip svelte-kit swift swiftc tox tsc turbo uv vite vitest webpack xcodebuild yarn zig`,
  programs: {
    npm: {
      ...wrapping("-pwc package call", { verb: ["exec", "x"], text: "-c call", packages: true }),
      runs: runNewScripts,
      prints: COMPLETION,
    },
    npx: wrapping("-pwc package call", { text: "-c call", packages: true }),
    yarn: wrapping("-p package", { verb: ["exec", "dlx"], packages: true }),
    pnpm: { ...wrapping("-C package", { verb: ["exec", "dlx"], packages: true }), prints: COMPLETION },
    pnpx: wrapping("package", { packages: true }),
    bunx: wrapping("-p package", { packages: true }),
    corepack: { wraps: { may: /^(npm|npx|pnpm|pnpx|yarn|yarnpkg)@/ } },
    lerna: wrapping("scope ignore concurrency", { verb: ["exec"] }),
    nodemon: { options: { values: "-wei watch ext ignore", starts: "-x exec" } },
    concurrently: wrapping("-nck", { joins: "lines" }),
    "cross-env": { wraps: { assigns: true } },
    "cross-env-shell": { wraps: { assigns: true, joins: "blanks" } },
    dotenv: wrapping("-efcvop", { asks: "help" }),
    uv: {
      ...wrapping("-pw with python extra group project directory env-file", { verb: ["run"] }),
      prints: COMPLETION,
    },
    uvx: wrapping("from with python", { packages: true }),
    pipx: wrapping("spec python", { verb: ["run"], packages: true }),
    "pip pip3": {
      options: {
        values: "-rcei requirement constraint editable index-url",
        writes: "-t target prefix root",
        runs: "editor",
      },
      prints: VERSION_SHIMS,
    },
    cmake: { effects: installed, runs: runCmakeTool },
    poetry: { ...verbs("run"), prints: COMPLETION },
    "pipenv pdm rye hatch": verbs("run"),
    conda: { ...wrapping("-np", { verb: ["run"] }), prints: CONDA_SHELL },
    "mamba micromamba": { prints: CONDA_SHELL },
    "bundle asdf": verbs("exec"),
    "rbenv pyenv": { ...verbs("exec"), prints: VERSION_SHIMS },
    "nodenv goenv jenv thefuck": { prints: VERSION_SHIMS },
    direnv: { wraps: { verb: ["exec"], skip: 1 }, prints: HOOKS },
    mise: { ...verbs("exec", "x"), prints: HOOKS },
    "starship zoxide atuin rtx oh-my-posh navi mcfly": { prints: HOOKS },
    volta: wrapping("node npm yarn pnpm", { verb: ["run"] }),
    fnm: { ...wrapping("using", { verb: ["exec"] }), prints: SHELL_ENVIRONMENT },
    nvm: { wraps: { verb: ["exec"], may: VERSION }, prints: SHELL_ENVIRONMENT },
    "opam luarocks brew dircolors lesspipe keychain tset resize": { prints: SHELL_ENVIRONMENT },
    rustup: { wraps: { verb: ["run"], skip: 1 }, prints: COMPLETION },
    "just hugo": { prints: COMPLETION },
    cargo: wrapping("-sxwi", { verb: ["watch"], text: "-s" }),
    go: {
      options: {
        writes: "o cpuprofile memprofile coverprofile",
        runs: "exec toolexec vettool",
        singleDash: true,
      },
    },
    nix: verbs("develop", "shell"),
    "nix-shell": { options: { values: "-p", starts: "run command" } },
    [COMPILERS]: {
      options: { values: "-IlLDWfmgxUBTjOE isystem include sysroot", writes: "-o" },
    },
    "ar llvm-ar": { effects: ({ operands }) => effectsOn(operands.slice(1, 2), "write") },
    "strip objcopy install_name_tool patchelf upx ranlib chrpath": {
      options: { values: "-RKNIOF", writes: "-o" },
      effects: ({ operands }) => effectsOn(operands.slice(-1), "write", { how: "edit" }),
    },
    dpkg: { options: { runs: "pre-invoke post-invoke" } },
    "make gmake": { options: { values: "-fCIojlW file makefile eval directory" }, runs: runMake },
  },
};

/** The effect of `cmake --install`, which writes below its prefix, by default /usr/local. */
function installed(_options: Options, { args }: EffectiveCommand): readonly RawEffect[] {
  const [first] = args;
  if (!first || !args.some(({ text }) => text === "--install")) return [];
  const at = args.findIndex(({ text }) => /^--prefix(=|$)/.test(text));
  const given = args[at]?.text.startsWith("--prefix=")
    ? { ...first, text: args[at]?.text.slice(9) ?? "" }
    : args[at + 1];
  return effectsOn([at < 0 ? { ...first, text: "/usr/local/x" } : (given ?? first)], "write", {
    how: "copy",
  });
}
