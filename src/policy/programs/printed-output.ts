// What a command prints, where that can be known without running it: echo, printf, cat, decoders, and a few programs
// whose answer is certain enough (pwd, mktemp). Everything else prints something unknown, with its origins kept.

import { POLICY_FOLDED_MAX_CHARS } from "../../support/limits.ts";
import { changeDirectory, holdsCredentials, type Where } from "../paths/paths.ts";
import { remembered } from "../remembered.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import { WIDE_RANGE_COUNT } from "../shell-model/counting.ts";
import {
  decodeBase64,
  decodeByteEscapes,
  decodeHex,
  formatted,
  translated,
} from "../shell-model/decode-text.ts";
import { type DataOrigin, type Flow, flowOf, joinOrigins } from "../shell-model/flow.ts";
import { EACH, hasGlob, isCertain, SOMETHING, STAR, UNKNOWN } from "../shell-model/marks.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import { readOptions, valuesOf } from "./argv.ts";

export function foldOutput(command: EffectiveCommand, scope: Scope, where: Where): Flow {
  const fold = Object.hasOwn(FOLDS, command.program) ? FOLDS[command.program] : undefined;
  const folded = fold ? fold(command, scope, where) : null;
  const text = folded !== null && folded.length > POLICY_FOLDED_MAX_CHARS ? null : folded;
  rememberFetched(command, scope);
  if (command.program === "tee") rememberCopies(command, scope);
  if (command.program === "mkfifo" || command.program === "mknod") rememberPipes(command, scope);
  const carried = joinOrigins(command.stdin.origins, command.substituted, ownOrigins(command));
  const gone: DataOrigin | null = picksSome(command) ? "processes" : null;
  // What a program makes of a file is no longer that file.
  const flow = flowOf(
    text,
    carried.filter((origin) => origin !== gone && origin !== "file"),
  );
  const directories = command.program === "pwd" ? printedDirectories(command) : NONE;
  return directories.length > 1 ? { ...flow, alternatives: directories } : flow;
}

const NONE: readonly never[] = [];

/** What `pwd` may print: bash's own the name it came by, with -P and as a program the place behind links. */
function printedDirectories({ called, args, cwds, links }: EffectiveCommand): readonly string[] {
  if (!called.includes("/") && !args.some(({ text }) => /^-\w*P/.test(text))) return cwds;
  return cwds.flatMap((cwd) => {
    const paths = links.followed(cwd, "/", true);
    return paths.length > 0 ? paths : [cwd];
  });
}

/** Whether of a list only those are left that fit a pattern. */
function picksSome({ program, args }: EffectiveCommand): boolean {
  // All but the first line, which is a title.
  if (program === "tail" && args.some(({ text }) => /^(-n ?|--lines=)?\+\d+$/.test(text))) return false;
  if (/^([ef]?grep|rg|ag|fzf|head|tail|comm)$/.test(program))
    return !args.some(({ text }) => /^-\w*v|^\^?(\[0-9\]|\\d|\[\[:digit:\]\])/.test(text));
  return /^([gmn]?awk|sed)$/.test(program) && args.some(({ text }) => /\/[^/]+\/|~|==|NR|^\d+p$/.test(text));
}

type Fold = (command: EffectiveCommand, scope: Scope, where: Where) => string | null;

const FOLDS: Readonly<Record<string, Fold>> = {
  echo: ({ args }) => {
    let at = 0;
    let flags = "";
    for (; /^-[neE]+$/.test(args[at]?.text ?? ""); at++) flags += args[at]?.text ?? "";
    const text = args
      .slice(at)
      .map((arg) => arg.text)
      .join(" ");
    return (flags.includes("e") ? decodeByteEscapes(text) : text) + (flags.includes("n") ? "" : "\n");
  },
  printf: ({ args }) => {
    const [format, ...values] = args[0]?.text === "--" ? args.slice(1) : args;
    if (!format || format.text.startsWith("-v")) return "";
    return formatted(
      format.text,
      values.map(({ text }) => text),
    );
  },
  cat: ({ args, stdin, cwds }, scope) => {
    const files = args.filter(({ text }) => !/^-./.test(text));
    if (files.length === 0) return stdin.text;
    let all = "";
    for (const file of files) {
      const flow =
        file.text === "-"
          ? stdin
          : (file.flow ?? scope.files.get(changeDirectory(file.text, cwds[0] ?? UNKNOWN)));
      if (flow === undefined || flow.text === null) return null;
      all += flow.text;
    }
    return all;
  },
  tee: ({ stdin }) => stdin.text,
  base64: (command) => decoding(command, /^(-d|-D|--d\w*|-di|-id)$/, decodeBase64),
  base32: () => null,
  xxd: (command) =>
    command.args.some(({ text }) => /^-\w*r/.test(text)) ? decoding(command, /^-\w*p/, decodeHex) : null,
  openssl: (command) => decoding(command, /^-d$/, decodeBase64),
  rev: ({ stdin }) =>
    stdin.text
      ?.split("\n")
      .map((line) => [...line].reverse().join(""))
      .join("\n") ?? null,
  tr: ({ args, stdin }) => {
    const [from, to] = args.filter(({ text }) => !/^-./.test(text));
    const deletes = args.some(({ text }) => /^-\w*d/.test(text));
    return stdin.text === null || !from
      ? null
      : translated(stdin.text, from.text, deletes ? "" : (to?.text ?? ""));
  },
  ls: ({ args }) => {
    const { flags, operands } = readOptions(args);
    if ([...flags].some((flag) => !/^[AadrtU1]$/.test(flag))) return null;
    const names = flags.has("d") || operands.some(({ text }) => hasGlob(text));
    return `${names ? operands.map(({ text }) => text).join("\n") : STAR}\n`;
  },
  pwd: (command) => {
    const [first = UNKNOWN, ...others] = printedDirectories(command);
    return `${others.length === 0 ? first : UNKNOWN}\n`;
  },
  mktemp: (command) => {
    const options = readOptions(command.args, { values: "p", longValues: ["tmpdir", "suffix"] });
    const [directory] = valuesOf(options, "p", "tmpdir");
    const [template] = options.operands;
    const name = template?.text.replace(/X{3,}/, SOMETHING) ?? SOMETHING;
    if (name.includes("/")) return `${name}\n`;
    return template && !directory && !options.flags.has("t") && !options.flags.has("tmpdir")
      ? `${name}\n`
      : `${directory?.text ?? "/tmp"}/${name}\n`;
  },
  which: named,
  command: (command) => (/^-[vp]*v/.test(command.args[0]?.text ?? "") ? named(command) : null),
  dirname: ({ args }) => {
    const path = args.at(-1)?.text ?? "";
    if (!isCertain(path)) return null;
    return `${path.includes("/") ? path.replace(/\/+[^/]*\/*$/, "") || "/" : "."}\n`;
  },
  basename: ({ args }) =>
    args.length === 1 && isCertain(args[0]?.text ?? "")
      ? `${args[0]?.text.split("/").filter(Boolean).at(-1) ?? "/"}\n`
      : null,
  realpath: resolved,
  readlink: resolved,
  git: ({ args }, _scope, where) =>
    args.map(({ text }) => text).join(" ") === "rev-parse --show-toplevel" ? `${where.workspace}\n` : null,
  whoami: (_command, _scope, where) => `${where.isRoot ? "root" : (where.home.split("/").at(-1) ?? "")}\n`,
  date: () => `${SOMETHING}\n`,
  nproc: () => `${SOMETHING}\n`,
  uname: () => `${SOMETHING}\n`,
  hostname: () => `${SOMETHING}\n`,
  seq: ({ args }) => `${Number(args.at(-1)?.text) >= WIDE_RANGE_COUNT ? EACH : SOMETHING}\n`,
  true: () => "",
  ":": () => "",
};

function named({ args }: EffectiveCommand): string | null {
  const names = args.filter(({ text }) => !text.startsWith("-"));
  return names.length === 1 ? `${names[0]?.text ?? ""}\n` : null;
}

function resolved({ args, cwds, links }: EffectiveCommand): string | null {
  const [path] = readOptions(args).operands;
  const [cwd = UNKNOWN] = cwds;
  if (!path || cwds.length !== 1) return null;
  const paths = links.followed(path.text, cwd, true);
  return paths.length > 1 ? null : `${paths[0] ?? changeDirectory(path.text, cwd)}\n`;
}

function decoding(
  { args, stdin }: EffectiveCommand,
  flag: RegExp,
  decode: (text: string) => string | null,
): string | null {
  if (
    !args.some(({ text }) => flag.test(text)) ||
    !stdin.connected ||
    stdin.text === null ||
    !isCertain(stdin.text)
  )
    return null;
  return decode(stdin.text);
}

const FETCHERS = /^(curl|wget|http|https|xh|aria2c|fetch|lynx|w3m|ssh|ftp)$/;
const SOCKETS = /^(nc(?:\.\w+)?|ncat|netcat|socat|telnet)$/;
const DECODERS = /^(base64|base32|xxd|openssl|gunzip|zcat|gpg|uudecode)$/;

function ownOrigins(command: EffectiveCommand): readonly DataOrigin[] {
  if (FETCHERS.test(command.program)) return ["network"];
  if (
    SOCKETS.test(command.program) ||
    (command.program === "openssl" && command.args[0]?.text === "s_client")
  )
    return ["network", "socket"];
  if (command.program === "yes") return ["endless"];
  if (listsProcesses(command)) return ["processes"];
  if (printsSettings(command)) return ["settings"];
  const origins: DataOrigin[] = DECODERS.test(command.program) ? ["decoded"] : [];
  if (readsSecret(command)) origins.push("secret");
  return origins;
}

function readsSecret({ program, args, redirects, cwds, links }: EffectiveCommand): boolean {
  const isSecret = ({ text }: Field): boolean =>
    /[./]/.test(text) &&
    !text.startsWith("-") &&
    cwds.some((cwd) => links.places(text, cwd, true).some(holdsCredentials));
  if (args.some(isSecret)) return true;
  if (redirects.some(({ operator, target }) => operator === "<" && isSecret(target))) return true;
  return program === "gpg" && args.some(({ text }) => text.includes("secret"));
}

const SETTINGS: readonly (readonly [RegExp, RegExp])[] = [
  [/^ssh-agent$/, /^(-[sc])?$/],
  [/^(direnv|starship|zoxide|atuin|mise|rtx|oh-my-posh|navi|mcfly)$/, /^(hook|init|activate|export) /],
  [/^(pyenv|rbenv|nodenv|goenv|jenv|pip|thefuck)$/, /^(init|virtualenv-init|completion|--alias)\b/],
  [/^(fnm|opam|luarocks|nvm|brew|dircolors|lesspipe|keychain|tset|resize)$/, /^(env|shellenv|path|-\w+|)/],
  [/^(conda|mamba|micromamba)$/, /^shell[. ]/],
  [
    /^(kubectl|helm|gh|docker|npm|pnpm|deno|rustup|uv|poetry|just|k3d|kind|minikube|flux|argocd|hugo)$/,
    /\bcompletions?\b/,
  ],
];

/** `eval "$(ssh-agent -s)"`, `source <(kubectl completion bash)`: ordinary lines of a start-up file. */
function printsSettings({ program, args }: EffectiveCommand): boolean {
  const asked = settingsOf(program);
  if (asked.length === 0) return false;
  const line = args.map(({ text }) => text).join(" ");
  return asked.some((fits) => fits.test(line));
}

const settingsOf = remembered((program) =>
  SETTINGS.filter(([name]) => name.test(program)).map(([, fits]) => fits),
);

/** Whether it names every process, or every one of a user. */
function listsProcesses({ program, args }: EffectiveCommand): boolean {
  if (program === "ls") return args.some(({ text }) => /^\/proc\/?$/.test(text));
  if (program === "find") return args.some(({ text }) => /^\/proc\/?$/.test(text));
  if (program === "pidof") return args.some(({ text }) => /^(systemd|init|launchd)$/.test(text));
  if (program === "pgrep") {
    const options = readOptions(args, {
      values: "uUgGPstFd",
      longValues: ["euid", "uid", "group", "parent"],
    });
    return /^([.^$*]|\.\*)*$/.test(options.operands[0]?.text ?? "");
  }
  return (
    program === "ps" && !args.some(({ text }) => /^(-?[pqC]|--pid|--ppid)/.test(text) && !/^p/.test(text))
  );
}

/** A program that reads a pipe reads what another program writes. */
function rememberPipes({ args, cwds }: EffectiveCommand, scope: Scope): void {
  for (const { text } of readOptions(args, { values: "m" }).operands)
    scope.files.set(changeDirectory(text, cwds[0] ?? UNKNOWN), flowOf(null));
}

function rememberCopies({ args, stdin, cwds }: EffectiveCommand, scope: Scope): void {
  for (const { text } of readOptions(args).operands)
    scope.files.set(changeDirectory(text, cwds[0] ?? UNKNOWN), stdin);
}

/** A fetched file is remote code when it is run later. */
function rememberFetched(command: EffectiveCommand, scope: Scope): void {
  if (command.program !== "curl" && command.program !== "wget") return;
  const options = readOptions(command.args, {
    values: command.program === "curl" ? "oHXduAeTFb" : "OoPUqt",
    longValues: ["output", "output-document"],
  });
  const urls = options.operands
    .map(({ text }) => text.split(/[?#]/)[0]?.split("/").at(-1) ?? "")
    .filter((name) => name !== "");
  const saves = command.program === "wget" || options.flags.has("O") || options.flags.has("remote-name");
  const targets = valuesOf(options, command.program === "curl" ? "o" : "O", "output", "output-document").map(
    ({ text }) => text,
  );
  for (const name of targets.length > 0 ? targets : saves ? urls : []) {
    if (name !== "-")
      scope.files.set(changeDirectory(name, command.cwds[0] ?? UNKNOWN), flowOf(null, ["network"]));
  }
}
