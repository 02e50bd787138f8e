// Text that a command writes and a tool then runs: recipes, package scripts, build scripts, tests, configuration files
// with code. The command line does not name these files, so the policy reads every text file that the command wrote.

import { POLICY_FETCHED_MAX_COUNT } from "../../../support/limits.ts";
import { changeDirectory } from "../../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Runner } from "../../shell-model/command.ts";
import type { Flow } from "../../shell-model/flow.ts";
import { isUnresolved } from "../../shell-model/marks.ts";
import { inSeparateProcess } from "../../shell-model/nested-context.ts";
import { isKnownProgram, isWrapper } from "../programs.ts";
import { runCodeText } from "./interpreter-code.ts";

/** Tools that run code from files of the project. */
const TOOLS: ReadonlySet<string> = new Set(
  `make gmake bmake nmake remake npm pnpm yarn bun npx pnpx bunx node tsx ts-node deno python python3 ruby perl php cmake ctest cpack
ninja meson go just rake tox nox pre-commit docker podman docker-compose vite vitest eslint jest mocha webpack rollup
next nuxt astro gradle gradlew mvn mvnw ant pytest pip pip3 uv poetry pdm hatch cargo rustc direnv task invoke inv fab vagrant
terraform tofu ansible-playbook ansible gdb lldb autoconf autoreconf automake sbt mix rebar3 composer bundle gulp grunt nx turbo lerna bazel
buck2 scons waf doit luigi airflow snakemake nextflow gcc g++ cc c++ clang clang++ tcc javac java kotlinc scala swift dotnet
crystal nim zig ghc ocaml husky lefthook lint-staged karma cypress playwright prettier stylelint babel tsc parcel gatsby
expo react-native ng svelte-kit nodemon pm2 foreman honcho overmind procfile supervisord systemd-run tmuxinator act semantic-release
m4 latex pdflatex xelatex lualatex sphinx-build mkdocs jekyll hugo rails bin/rails`.split(/\s+/),
);

const WRITTEN = "a file it wrote";
const COMPILERS = /^(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|tcc|rustc|go|ghc)$/;
/** Files that no tool runs. */
const DATA = /\.(md|markdown|rst|adoc|txt|log|csv|tsv|html?|svg|lock|pem|crt|key|sql|patch|diff|css|scss)$/i;
const CODE =
  /\.(py|[cm]?[jt]sx?|rb|pl|php|lua|rs|go|c|cc|cpp|h|hpp|java|kt|kts|scala|swift|gradle|groovy|exs?|erl|hs|ml|jl|R|cs|nim|cr|zig|pth|sbt)$|(^|\/)(Rakefile|Gemfile|Vagrantfile|Jenkinsfile|SConstruct|wscript|Fastfile|Guardfile|Capfile)$/;

/** Walks the files that this command wrote earlier, if the program runs files of the project. */
export function runWritten(command: EffectiveCommand, around: CommandContext, runner: Runner): void {
  noteFetched(command, around, runner);
  const { files } = around.scope;
  const { program, stdin, via } = command;
  // Do not walk the files again if a script that the command wrote starts the tool again: the walk read them at the
  // first start.
  if (!TOOLS.has(program) || via.includes(WRITTEN)) return;
  const inside = { ...inSeparateProcess(around, WRITTEN), assignments: [] };
  if (COMPILERS.test(program) && stdin.connected && stdin.text !== null)
    runCodeText(stdin.text, command, inside, runner);
  const written = [...files.fresh];
  files.fresh.clear();
  for (const [path, flow] of written) {
    if (path.startsWith("/dev/fd/") || (DATA.test(path) && !path.endsWith("/CMakeLists.txt"))) continue;
    runWrittenFile(path, flow, command, inside, runner);
  }
}

/** Reports a tool that runs downloaded code: a cloned project, a downloaded program. */
function noteFetched(command: EffectiveCommand, { scope }: CommandContext, runner: Runner): void {
  const { program, called, args, cwds } = command;
  const { made, files } = scope;
  if (made.fetched.size === 0 && files.size === 0) return;
  const isMany = made.fetched.size > POLICY_FETCHED_MAX_COUNT;
  const isTool = TOOLS.has(program) || /^\.{0,2}\//.test(called);
  if (!isTool || READS_ONLY.test(args[0]?.text ?? "")) return;
  runner.spend(
    (1 + args.length) * cwds.length * (1 + Math.min(made.fetched.size, POLICY_FETCHED_MAX_COUNT) / 8),
  );
  const places = [
    ...cwds,
    ...cwds.flatMap((cwd) =>
      [called, ...args.map(({ text }) => text)]
        .filter((text) => /[/.]/.test(text))
        .map((text) => changeDirectory(text, cwd)),
    ),
  ];
  const isFetched = places.some(
    (place) =>
      isMany ||
      [...made.fetched].some((tree) => `${place}/`.startsWith(`${tree}/`)) ||
      (/\.(jar|phar|whl|gem|pyz|exe|bin|run|AppImage|gradle|py|[cm]?js|ts|sh|rb|pl|php|R|jl|cmake|mk|rs|go|c|lua)$/.test(
        place,
      ) &&
        files.get(place)?.origins.includes("network")),
  );
  if (isFetched) runner.sign("remote-code", command.span, `${program} runs code that was downloaded`);
}

const READS_ONLY = /^(--version|-v|--help|list|ls|outdated|audit|tree|metadata|locate-project)$/;

function runWrittenFile(
  path: string,
  { text, origins }: Flow,
  command: EffectiveCommand,
  inside: CommandContext,
  runner: Runner,
): void {
  if (text === null || (isUnresolved(text) && !RECIPES.test(path))) {
    if (origins.includes("network") && RECIPES.test(path))
      runner.sign("remote-code", command.span, `${command.program} runs a file that was downloaded`);
    return;
  }
  runner.spend(text.length / LISTED_CHARS_PER_STEP);
  if (CODE.test(path) || !/\n|\s/.test(text.trim())) runCodeText(text, command, inside, runner);
  const lines = /\.json$/.test(path)
    ? scriptsIn(text)
    : CODE.test(path)
      ? generated(text)
      : commandLines(text);
  for (const line of lines) runner.runText(line, inside);
  if (!CODE.test(path)) runCodeText(text, command, inside, runner);
}

/** The cost of splitting the text into lines. Walking the lines is charged separately. */
const LISTED_CHARS_PER_STEP = 4;

/** Names of files that exist only for a tool to run them. */
const RECIPES =
  /(^|\/)(GNUmakefile|[Mm]akefile|package\.json|[Jj]ustfile|Rakefile|CMakeLists\.txt|setup\.py|conftest\.py|build\.(rs|gradle|sbt)|tox\.ini|(docker-)?compose\.ya?ml|Taskfile\.ya?ml|\.pre-commit-config\.yaml|\.envrc)$/;

/** The commands in the comments of Go code. */
function generated(text: string): readonly string[] {
  return [...text.matchAll(/^\/\/go:generate\s+(.+)$/gm)].map(([, line = ""]) => line);
}

/** Strings in a JSON file that start with the name of a program, such as the scripts in a package.json. */
function scriptsIn(text: string): readonly string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.){2,2000})"/g)]
    .map(([, value = ""]) => value.replaceAll('\\"', '"').replaceAll("\\n", "\n"))
    .filter(startsWithProgram);
}

/** The commands in a file: recipes, list items, and values of keys such as `run`. */
function commandLines(text: string): readonly string[] {
  return text
    .split("\n")
    .flatMap((line) => [
      line,
      ...[...line.matchAll(VALUES)].map(([, quoted, plain]) => quoted ?? plain ?? ""),
    ])
    .map((line) =>
      line
        .replace(PREFIX, "")
        .replaceAll("$(HOME)", "$HOME")
        .replaceAll("{homedir}", "$HOME")
        .replaceAll("$ENV{HOME}", "$HOME")
        .replaceAll("$$", "$"),
    )
    .map((line) =>
      line
        .replace(/\\"/g, '"')
        .replace(/^([^(]*)\)\s*$/, "$1")
        .trim(),
    )
    .filter((line) => line !== "" && startsWithProgram(line));
}

const PREFIX =
  /^\s*(?:[\w.\-/%$() ]+::?(?=\s*\t|\s*;)\s*;?|\/\/go:generate\s+|#\s*(?=!)|-\s+|[@+-]+|RUN\s+|(?:ex|in)ecute_process\s*\(\s*COMMAND\s+|COMMAND\s+)?\s*[@-]?\s*/;
const VALUES =
  /(?:\b(?:entry|commands(?:_pre|_post)?|command|cmds?|run|exec|script|scripts|args|ExecStart|COMMAND|pre\w*|post\w*|test|build|start)\s*(?:[:=(]|\s)\s*\[?\s*)(?:"((?:[^"\\]|\\.){2,400})"|([^"'\n[\]]{2,400}))/g;

function startsWithProgram(line: string): boolean {
  const [, name = ""] = /^\s*(?:\w+=\S*\s+)*([\w./+-]+)(?:\s|$)/.exec(line) ?? [];
  const program = name.slice(name.lastIndexOf("/") + 1);
  return program !== "" && /\s/.test(line.trim()) && (isKnownProgram(program) || isWrapper(program));
}
