// The commands that search files: ripgrep if it is installed, otherwise find, git and grep. All of them skip .git,
// follow no links below the start, and separate paths with NUL. All except find and grep respect ignore files.
import { accessSync, constants } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { extendedPattern } from "./extended-pattern.ts";

export type SearchProgram = "rg" | "grep";

export interface SearchCommand {
  readonly command: string;
  /** Whether the output can be much longer than a list of files. */
  readonly isLong: boolean;
}

export interface ListRequest {
  /** The absolute path of the directory or file to search. */
  readonly root: string;
  /** A pattern for file names that narrows the list; undefined for all files. */
  readonly name: string | undefined;
}

export interface GrepRequest extends ListRequest {
  readonly pattern: string;
  readonly mode: "content" | "files_with_matches" | "count";
  readonly type: string | undefined;
  readonly before: number;
  readonly after: number;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
}

/** Returns "rg" if this PATH contains ripgrep. */
export function searchProgram(path: string | undefined): SearchProgram {
  const folders = (path ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return folders.some((folder) => isProgram(`${folder}/rg`)) ? "rg" : "grep";
}

export function listCommand(program: SearchProgram, request: ListRequest): SearchCommand {
  return { command: listText(program, request), isLong: false };
}

export function grepCommand(program: SearchProgram, request: GrepRequest): SearchCommand {
  const isLong = request.mode === "content";
  const command = program === "rg" ? ripgrepText(request) : plainGrepText(request);
  // Use exec, which replaces bash with the search program and so saves a process.
  return { command: program === "rg" && !isLong ? `exec ${command}` : command, isLong };
}

function listText(program: SearchProgram, request: ListRequest): string {
  const root = shellQuote(request.root);
  if (program === "rg")
    return ["exec rg --files", ...COMMON_RG, ...nameOptions(request.name), "--", root].join(" ");
  const name = request.name?.includes("{") ? undefined : request.name;
  const matching = name === undefined ? "" : `-name ${shellQuote(name)} `;
  const inGit = `git ls-files -z --cached --others --exclude-standard`;
  return `cd -- ${root} && if ${IS_GIT}; then ${inGit}; else find . -name .git -prune -o -type f ${matching}-print0; fi`;
}

function ripgrepText({ pattern, root, mode, type, name, ...rest }: GrepRequest): string {
  const { before, after, ignoreCase, multiline } = rest;
  const format = {
    content: [
      "--no-heading",
      "--with-filename",
      "--line-number",
      "--max-columns=4096",
      "--max-columns-preview",
    ],
    files_with_matches: ["--files-with-matches"],
    count: ["--count", "--with-filename"],
  } as const;
  return [
    "rg",
    ...COMMON_RG,
    ...format[mode],
    ...(mode === "content" && before > 0 ? [`--before-context=${before}`] : []),
    ...(mode === "content" && after > 0 ? [`--after-context=${after}`] : []),
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(type === undefined ? nameOptions(name) : [`--type=${shellQuote(type)}`]),
    `--regexp=${shellQuote(pattern)}`,
    "--",
    shellQuote(root),
  ].join(" ");
}

/** In a repository, git grep searches all files that git does not ignore. Elsewhere, grep searches all files. */
function plainGrepText({ pattern, root, mode, before, after, ...rest }: GrepRequest): string {
  const lacking = rest.multiline ? "multiline" : rest.type === undefined ? undefined : "type";
  if (lacking !== undefined) {
    throw new NacreError(
      "invalid_input",
      `Parameter ${lacking} needs ripgrep (rg), which is not installed. Install it, or leave the parameter out.`,
    );
  }
  const { source, ignoreCase } = extendedPattern(pattern);
  const format = { content: ["-n"], files_with_matches: ["-l"], count: ["-c"] } as const;
  const options = [
    "-I",
    "-E",
    ...format[mode],
    ...(mode === "content" && before > 0 ? [`-B ${before}`] : []),
    ...(mode === "content" && after > 0 ? [`-A ${after}`] : []),
    ...(ignoreCase || rest.ignoreCase ? ["-i"] : []),
    `-e ${shellQuote(source)}`,
  ].join(" ");
  const name = rest.name?.includes("{") ? undefined : rest.name;
  const include = name === undefined ? "" : `--include=${shellQuote(name)} `;
  const start = shellQuote(root);
  const plain = `grep -r -H -Z -s --exclude-dir=.git ${include}${options} -- .`;
  return `if [ -d ${start} ]; then cd -- ${start} && if ${IS_GIT}; then git grep -z --no-color --untracked --exclude-standard${mode === "content" ? " --column" : ""} ${options} -- .; else ${plain}; fi; else grep -H -Z ${options} -- ${start}; fi`;
}

/** Selects file names with a ripgrep type, because a glob would override ignore files. */
function nameOptions(name: string | undefined): readonly string[] {
  return name === undefined ? [] : [`--type-add=${shellQuote(`nacre:${name}`)}`, "--type=nacre"];
}

const COMMON_RG = [
  "--no-config",
  "--color=never",
  "--null",
  "--hidden",
  "--glob='!.git'",
  "--no-require-git",
];
const IS_GIT = "git rev-parse --is-inside-work-tree >/dev/null 2>&1";

function isProgram(path: string): boolean {
  const found = attempt(() => {
    accessSync(path, constants.X_OK);
    return true;
  });
  return found === true;
}
