// git: its subcommands, the settings and options that run programs, and the files that it writes and deletes.

import { shellQuote } from "../../support/shell-quote.ts";
import { changeDirectory } from "../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { inSameProcess } from "../shell-model/nested-context.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { filesRead, worktreeAdded } from "./git-files.ts";
import type { ProgramFamily } from "./program-record.ts";
import { runOptionTexts } from "./runs/option-texts.ts";
import { SSH_IDENTITY } from "./transfer.ts";

export const git: ProgramFamily = {
  familiar: "git",
  programs: {
    git: {
      effects: (_options, { args }) => [...cleaned(args), ...written(args), ...filesNamed(args)],
      runs: runGit,
      leaves: (_options, { args, cwds }, { made }) => {
        const [url, directory] = readGit(args).args.filter((arg) => !/^(-|\d+$)/.test(arg));
        const { verb } = readGit(args);
        if (verb === "remote" && /^(add|set-url)$/.test(url ?? "") && directory !== undefined)
          made.remotes.add(directory);
        if (verb !== "clone" || url === undefined || !/^(\w+:\/\/|[\w.-]+@|gh:)/.test(url)) return;
        const name =
          directory ??
          url
            .replace(/\.git\/?$/, "")
            .split(/[/:]/)
            .at(-1) ??
          "";
        for (const cwd of cwds) made.fetched.add(changeDirectory(name, cwd));
      },
      prints: {
        text: ({ args }, _scope, { workspace }) =>
          args.map(({ text }) => text).join(" ") === "rev-parse --show-toplevel" ? `${workspace}\n` : null,
      },
      sends: {
        identity: SSH_IDENTITY,
        uploads: (_options, { args }) => pushesToUrl(args) || sendsMail(args),
        sendsFiles: ({ args }) => sendsMail(args),
      },
    },
  },
};

export interface GitCall {
  readonly verb: string;
  readonly args: readonly string[];
}

/** The subcommand and its arguments. Options of git itself may precede the subcommand. */
export function readGit(args: readonly Field[]): GitCall {
  const { verb, at } = verbIn(args);
  return { verb, args: args.slice(at + 1).map(({ text }) => text) };
}

function pushesToUrl(words: readonly Field[]): boolean {
  const { verb, args } = readGit(words);
  const [remote = ""] = args.filter((arg) => !arg.startsWith("-"));
  return verb === "push" && /^(https?:|ssh:|git:|\w+@[\w.-]+:)/.test(remote);
}

function sendsMail(words: readonly Field[]): boolean {
  const { verb, args } = readGit(words);
  return verb === "send-email" && !args.includes("--dry-run");
}

/** Settings that do not name programs, trusted hosts or keys. */
const HARMLESS_SETTINGS =
  /^(user\.(name|email)|init\.defaultbranch|pull\.\w+|push\.(default|autosetupremote)|color\..+|core\.(autocrlf|eol|quotepath|longpaths|filemode)|merge\.conflictstyle|rebase\.\w+|rerere\.\w+|fetch\.prune|diff\.(algorithm|colormoved)|column\.ui|branch\.sort|help\.autocorrect|advice\..+)$/i;

/** Files that subcommands write: archives, bundles, patches, new repositories, the user's settings. */
function written(words: readonly Field[]): readonly RawEffect[] {
  const { verb, at } = verbIn(words);
  const rest = words.slice(at + 1);
  const operands = rest.filter(({ text }) => !text.startsWith("-"));
  const after = (names: RegExp) =>
    rest.flatMap((field, i) => {
      const [, value] = /^-[\w-]+=(.+)$|^-o(?=[/~.])(.+)$/.exec(field.text) ?? [];
      if (!names.test(field.text.replace(/=.*$/, ""))) return [];
      return value === undefined ? rest.slice(i + 1, i + 2) : [{ ...field, text: value }];
    });
  const outputs = effectsOn(after(/^(-o|--output|--output-directory|--separate-git-dir)$/), "write");
  if (verb === "bundle" && operands[0]?.text === "create")
    return [...outputs, ...effectsOn(operands.slice(1, 2), "write")];
  if (verb === "clone")
    return [...outputs, ...effectsOn(operands.slice(1).slice(-1), "may-write", { how: "familiar" })];
  if (verb === "init")
    return [...outputs, ...effectsOn(operands.slice(-1), "may-write", { how: "familiar" })];
  if (verb === "config") return [...outputs, ...settingsWritten(rest, operands)];
  return outputs;
}

function filesNamed(words: readonly Field[]): readonly RawEffect[] {
  const { verb, at } = verbIn(words);
  const rest = words.slice(at + 1);
  const directories = words.slice(0, at).filter((_, i) => words[i - 1]?.text === "-C");
  // Each -C is relative to the one before.
  const from = directories.map(({ text }) => text).findLastIndex((text) => /^[/~]/.test(text));
  const path = directories.slice(Math.max(0, from)).map(({ text }) => text);
  const directory = path.length === 0 ? null : path.join("/");
  return [filesRead, worktreeAdded].flatMap((find) => find(verb, rest, directory));
}

function settingsWritten(rest: readonly Field[], operands: readonly Field[]): readonly RawEffect[] {
  const isRead = rest.some(({ text }) => /^(--get\S*|--list|-l|--show-\S+|get|list)$/.test(text));
  const [key, value] = operands.filter(({ text }) => !/^(set|unset)$/.test(text));
  const changes =
    value !== undefined ||
    rest.some(({ text }) => /^(--(unset|add|replace|remove|rename)\S*|-e|--edit|unset)$/.test(text));
  if (isRead || !key || !changes || HARMLESS_SETTINGS.test(key.text)) return [];
  if (rest.some(({ text }) => text === "--global"))
    return effectsOn([{ ...key, text: "~/.gitconfig" }], "append");
  return rest.some(({ text }) => text === "--system")
    ? effectsOn([{ ...key, text: "/etc/gitconfig" }], "append")
    : [];
}

function verbIn(args: readonly Field[]): { readonly verb: string; readonly at: number } {
  let at = 0;
  while (args[at]?.text.startsWith("-"))
    at += /^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/.test(args[at]?.text ?? "")
      ? 2
      : 1;
  return { verb: args[at]?.text ?? "", at };
}

function cleaned(args: readonly Field[]): readonly RawEffect[] {
  const at = args.findIndex(({ text }) => text === "clean");
  const [first] = args;
  const rest = args.slice(at + 1).map(({ text }) => text);
  if (at < 0 || !first || rest.some((text) => /^(-\w*n\w*|--dry-run)$/.test(text))) return [];
  if (!rest.some((text) => /^(-\w*f\w*|--force)$/.test(text))) return [];
  const directory = args[args.findIndex(({ text }) => text === "-C") + 1];
  const target = first.text === "-C" && directory ? directory : { ...first, text: "." };
  return effectsOn([target], "delete", { recursive: true, how: "git" });
}

function runGit(command: EffectiveCommand, around: CommandContext, runner: Runner): null {
  const { verb, args } = readGit(command.args);
  const [remote = ""] = args.filter((arg) => !arg.startsWith("-"));
  // If the same command text has added the remote, judge the push as one to an unknown host.
  if (verb === "push" && around.scope.made.remotes.has(remote))
    runner.runArgv(
      ["git", "push", "https://unknown.example"].map((text) => ({ text, span: command.span })),
      inSameProcess(around, "git"),
    );
  if (/^(apply|am)$/.test(verb) && command.stdin.origins.includes("network"))
    runner.sign("remote-code", command.span, "git applies a downloaded patch");
  const named = namedCommand(command.args);
  if (named) runner.runText(named.text, { ...inSameProcess(around, "git"), span: named.span });
  runOptionTexts(executed(command.args), command, around, runner);
  return null;
}

/** The command that git runs for every submodule, every commit or every step of a bisection. */
function namedCommand(args: readonly Field[]): Field | null {
  const at = args.findIndex(({ text }, i) => {
    const before = args[i - 1]?.text ?? "";
    if (before === "submodule") return text === "foreach";
    if (before === "bisect") return text === "run";
    return /^--(tree|index|env|msg|commit|parent|tag-name)-filter$/.test(text);
  });
  const rest = args.slice(at + 1).filter(({ text }, i) => i > 0 || !/^--(recursive|quiet)$/.test(text));
  const [first] = rest;
  if (at < 0 || !first) return null;
  const isFilter = args[at]?.text.endsWith("-filter");
  return {
    ...first,
    text: isFilter || rest.length === 1 ? first.text : rest.map(({ text }) => shellQuote(text)).join(" "),
  };
}

const EXECUTED_SETTINGS =
  /^(core\.(pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy)|alias\..+|pager\..+|diff\.external|diff\..+\.(command|textconv)|difftool\..+\.cmd|mergetool\..+\.cmd|merge\..+\.driver|filter\..+\.(clean|smudge|process)|credential\.(.+\.)?helper|gpg\.(.+\.)?program|sequence\.editor|uploadpack\.\w+|protocol\.ext\.allow|remote\..+\.(uploadpack|receivepack|vcs)|ssh\.variant|init\.templatedir|include\.path|includeif\..+)$/i;

/** Whether a git setting names something that git runs. */
export function isExecutedSetting(key: string): boolean {
  return EXECUTED_SETTINGS.test(key);
}

function executed(args: readonly Field[]): readonly Field[] {
  const found: Field[] = [];
  for (const [i, field] of args.entries()) {
    const { text } = field;
    const next = args[i + 1];
    if (text === "-c" && next) found.push(...setting(next));
    else if (text.startsWith("--config-env=") || text === "--ext-diff") found.push({ ...field, text: ":" });
    else if (/^-O./.test(text) && args.some((arg) => arg.text === "grep"))
      found.push({ ...field, text: text.slice(2) });
    else if (/^--(upload-pack|receive-pack|exec|extcmd|exec-path|open-files-in-pager)=/.test(text))
      found.push({ ...field, text: text.slice(text.indexOf("=") + 1) });
    else if (isTemplate(text, args)) found.push(...templateIn(field, next));
    else if (next && takesCommand(text, args[0]?.text ?? "")) found.push(next);
    else if (/^ext::/.test(text)) found.push({ ...field, text: text.slice(5) });
  }
  return found;
}

/** Whether the option names a template directory. git copies the hooks in this directory, and runs them later. */
function isTemplate(option: string, args: readonly Field[]): boolean {
  return /^--template(=|$)/.test(option) && /^(init|clone)$/.test(verbIn(args).verb);
}

/** The template directory. An empty value means that there is none. */
function templateIn(field: Field, next: Field | undefined): readonly Field[] {
  const equal = field.text.indexOf("=");
  const directory = equal < 0 ? next : { ...field, text: field.text.slice(equal + 1) };
  return directory && directory.text !== "" ? [directory] : [];
}

function takesCommand(option: string, verb: string): boolean {
  if (option === "-u") return verb === "clone";
  return (
    /^(--upload-pack|--receive-pack|--extcmd|--exec|-x)$/.test(option) &&
    /^(fetch|clone|pull|push|rebase|difftool|ls-remote)$/.test(verb)
  );
}

function setting(field: Field): readonly Field[] {
  const equal = field.text.indexOf("=");
  const key = equal < 0 ? field.text : field.text.slice(0, equal);
  const value = equal < 0 ? "" : field.text.slice(equal + 1);
  if (!isExecutedSetting(key) || /^(cat|less|true|)$/.test(value)) return [];
  // The text of an alias is a git command, or a shell command if it starts with an exclamation mark.
  if (/^alias\./i.test(key))
    return [{ ...field, text: value.startsWith("!") ? value.slice(1) : `git ${value}` }];
  return [{ ...field, text: value }];
}
