// Predicts the output of programs, where that is possible without running them.

import { changeDirectory } from "../paths/paths.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import { decodeBase64, decodeByteEscapes, formatted, translated } from "../shell-model/decode-text.ts";
import { hasGlob, isCertain, SOMETHING, STAR, UNKNOWN } from "../shell-model/marks.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import type { Prints } from "./program-record.ts";
import { type OptionTable, readOptions, valuesOf } from "./read-options.ts";

type PrintedText = NonNullable<Prints["text"]>;

/** The output is the decoded input; nothing else is known about it. */
export const decodesInput: Prints = { origins: () => ["decoded"] };

/** A tool that prints settings for the shell if its arguments match: `eval "$(ssh-agent -s)"`. */
export const printsSettings = (asked: RegExp): Prints => ({
  origins: ({ args }) => (asked.test(args.map(({ text }) => text).join(" ")) ? ["settings"] : []),
});

/** A program that lists all processes, or all processes of a user, unless its arguments select some. */
export const listsProcesses = (lists: (command: EffectiveCommand) => boolean): Prints => ({
  origins: (command) => (lists(command) ? ["processes"] : []),
});

/** Whether an argument names /proc. */
export function namesProcesses(args: readonly Field[]): boolean {
  return args.some(({ text }) => /^\/proc\/?$/.test(text));
}

/** A program that decodes its input if an argument matches. */
export function printsDecoded(
  flag: RegExp,
  decode: (text: string) => string | null = decodeBase64,
): PrintedText {
  return ({ args, stdin }) => {
    if (!args.some(({ text }) => flag.test(text)) || !stdin.connected) return null;
    return stdin.text === null || !isCertain(stdin.text) ? null : decode(stdin.text);
  };
}

export function echoed({ args }: EffectiveCommand): string {
  let at = 0;
  let flags = "";
  for (; /^-[neE]+$/.test(args[at]?.text ?? ""); at++) flags += args[at]?.text ?? "";
  const text = args
    .slice(at)
    .map((arg) => arg.text)
    .join(" ");
  return (flags.includes("e") ? decodeByteEscapes(text) : text) + (flags.includes("n") ? "" : "\n");
}

export function printed({ args }: EffectiveCommand): string | null {
  const [format, ...values] = args[0]?.text === "--" ? args.slice(1) : args;
  if (!format || format.text.startsWith("-v")) return "";
  return formatted(
    format.text,
    values.map(({ text }) => text),
  );
}

const withoutFlags = (args: readonly Field[]): readonly Field[] =>
  args.filter(({ text }) => !/^-./.test(text));

export function concatenated({ args, stdin, cwds }: EffectiveCommand, scope: Scope): string | null {
  const files = withoutFlags(args);
  if (files.length === 0) return stdin.text;
  let all = "";
  for (const file of files) {
    const known = () => scope.files.get(changeDirectory(file.text, cwds[0] ?? UNKNOWN));
    const flow = file.text === "-" ? stdin : (file.flow ?? known());
    if (flow === undefined || flow.text === null) return null;
    all += flow.text;
  }
  return all;
}

export function reversed({ stdin }: EffectiveCommand): string | null {
  const lines = stdin.text?.split("\n").map((line) => [...line].reverse().join(""));
  return lines?.join("\n") ?? null;
}

export function transliterated({ args, stdin }: EffectiveCommand): string | null {
  const [from, to] = withoutFlags(args);
  const deletes = args.some(({ text }) => /^-\w*d/.test(text));
  if (stdin.text === null || !from) return null;
  return translated(stdin.text, from.text, deletes ? "" : (to?.text ?? ""));
}

export function listedNames({ args }: EffectiveCommand): string | null {
  const { flags, operands } = readOptions(args);
  if ([...flags].some((flag) => !/^[AadrtU1]$/.test(flag))) return null;
  const names = flags.has("d") || operands.some(({ text }) => hasGlob(text));
  return `${names ? operands.map(({ text }) => text).join("\n") : STAR}\n`;
}

/** The possible output of `pwd`: the builtin prints the name of the directory; /bin/pwd and -P resolve its links. */
export function printedDirectories({ called, args, cwds, links }: EffectiveCommand): readonly string[] {
  if (!called.includes("/") && !args.some(({ text }) => /^-\w*P/.test(text))) return cwds;
  return cwds.flatMap((cwd) => {
    const paths = links.followed(cwd, "/", true);
    return paths.length > 0 ? paths : [cwd];
  });
}

export const TEMPORARY: OptionTable = { values: "-p tmpdir suffix" };

export function temporary({ args }: EffectiveCommand): string {
  const options = readOptions(args, TEMPORARY);
  const [directory] = valuesOf(options, "-p tmpdir");
  const [template] = options.operands;
  const name = template?.text.replace(/X{3,}/, SOMETHING) ?? SOMETHING;
  if (name.includes("/")) return `${name}\n`;
  return template && !directory && !options.flags.has("t") && !options.flags.has("tmpdir")
    ? `${name}\n`
    : `${directory?.text ?? "/tmp"}/${name}\n`;
}

/** The only name in the arguments, as `which` prints it. */
export function named({ args }: EffectiveCommand): string | null {
  const names = args.filter(({ text }) => !text.startsWith("-"));
  return names.length === 1 ? `${names[0]?.text ?? ""}\n` : null;
}

export function parentOf({ args }: EffectiveCommand): string | null {
  const path = args.at(-1)?.text ?? "";
  if (!isCertain(path)) return null;
  return `${path.includes("/") ? path.replace(/\/+[^/]*\/*$/, "") || "/" : "."}\n`;
}

export function lastPartOf({ args }: EffectiveCommand): string | null {
  if (args.length !== 1 || !isCertain(args[0]?.text ?? "")) return null;
  return `${args[0]?.text.split("/").filter(Boolean).at(-1) ?? "/"}\n`;
}

export function withoutLinks({ args, cwds, links }: EffectiveCommand): string | null {
  const [path] = readOptions(args).operands;
  const [cwd = UNKNOWN] = cwds;
  if (!path || cwds.length !== 1) return null;
  const paths = links.followed(path.text, cwd, true);
  return paths.length > 1 ? null : `${paths[0] ?? changeDirectory(path.text, cwd)}\n`;
}
