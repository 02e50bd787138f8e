// Records the directories, links and copies that a command creates, for later commands in the same text. links.ts
// resolves paths through these links, and a copy of a program is judged as that program.

import { POLICY_MADE_NAMES_MAX_COUNT } from "../../support/limits.ts";
import { changeDirectory, partsOf } from "../paths/paths.ts";
import type { EffectiveCommand } from "../shell-model/command.ts";
import type { MadePaths } from "../shell-model/made-paths.ts";
import { isUnresolved } from "../shell-model/marks.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import { hasFlag, type Options, valuesOf } from "./read-options.ts";

export function leavesDirectories({ operands }: Options, { cwds }: EffectiveCommand, { made }: Scope): void {
  for (const cwd of cwds) for (const { text } of operands) made.directories.add(changeDirectory(text, cwd));
}

export function leavesCopies(options: Options, command: EffectiveCommand, { made }: Scope): void {
  for (const cwd of command.cwds) leavesCopiesFrom(cwd, options, command, made);
}

function leavesCopiesFrom(
  cwd: string,
  options: Options,
  { program }: EffectiveCommand,
  made: MadePaths,
): void {
  const isSymbolic = isSymbolicLink(program, options);
  // Writing to a hard link writes to the original file.
  const isLink = isSymbolic || isHardLink(program, options);
  // A relative link target is relative to the directory of the link.
  const isRelativeToLink = isSymbolic && !hasFlag(options, "-r relative") && program !== "cp";
  for (const transfer of transfersOf(program, options)) {
    for (const path of pathsMade(transfer, cwd)) {
      const source = changeDirectory(transfer.text, isRelativeToLink ? changeDirectory("..", path) : cwd);
      if (source === path || isUnresolved(path)) continue;
      if (!isSymbolic) putCopy(path, source, made);
      if (isLink) made.links.add(path, source);
    }
  }
}

/** The paths that may be created: inside the target, and the target itself unless it is certainly a directory. */
function pathsMade({ text, target, isDirectory }: Transfer, cwd: string): readonly string[] {
  const name = partsOf(text).at(-1) ?? "";
  const inside = /^(\.\.)?$/.test(name) ? [] : [changeDirectory(`${target}/${name}`, cwd)];
  return isDirectory ? inside : [changeDirectory(target, cwd), ...inside];
}

function isSymbolicLink(program: string, options: Options): boolean {
  return /^(ln|cp)$/.test(program) && hasFlag(options, "-s symbolic symbolic-link");
}

/** Whether the call creates hard links. Call this function only if isSymbolicLink returned false. */
function isHardLink(program: string, options: Options): boolean {
  return program === "ln" || program === "link" || (program === "cp" && hasFlag(options, "-l link"));
}

function putCopy(path: string, source: string, made: MadePaths): void {
  if (isUnresolved(source)) return;
  made.copies.set(path, source);
  // A link still leads to its target after it is moved, or copied as a link.
  for (const target of made.links.at(source)) made.links.add(path, target);
}

interface Transfer {
  readonly text: string;
  readonly target: string;
  /** Whether the target is certainly a directory. */
  readonly isDirectory: boolean;
}

/** Each source with its target. With one operand, `ln` creates the link in the current directory. */
function transfersOf(program: string, options: Options): readonly Transfer[] {
  const [into] = valuesOf(options, "-t target-directory");
  const operands = options.operands.map(({ text }) => text);
  const isLoneName = program === "ln" && operands.length === 1;
  const directory = into?.text ?? (isLoneName ? "." : undefined);
  if (directory !== undefined)
    return operands.map((text) => ({ text, target: directory, isDirectory: true }));
  const hasOneTarget = program !== "ln" || operands.length > POLICY_MADE_NAMES_MAX_COUNT;
  const named = hasOneTarget ? operands.slice(1).slice(-1) : operands.slice(1);
  const last = operands.length - named.length;
  return named.flatMap((target, i) =>
    operands
      .slice(0, last + i)
      .map((text) => ({ text, target, isDirectory: /(^|\/)\.{1,2}\/*$/.test(target) })),
  );
}
