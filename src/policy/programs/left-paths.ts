// Directories, links and copies that a command leaves for later commands of the same text. A path is judged by where its
// links lead (links.ts), and a copy of a program is judged as that program.

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
  // Writing to a hard link writes to the file that it was made from.
  const isLink = isSymbolic || isHardLink(program, options);
  // The text of a link is read from the link's own directory.
  const isRead = isSymbolic && !hasFlag(options, "-r relative") && program !== "cp";
  for (const transfer of transfersOf(program, options)) {
    for (const path of pathsMade(transfer, cwd)) {
      const source = changeDirectory(transfer.text, isRead ? changeDirectory("..", path) : cwd);
      if (source === path || isUnresolved(path)) continue;
      if (!isSymbolic) putCopy(path, source, made);
      if (isLink) made.links.add(path, source);
    }
  }
}

/** A target that is a directory holds what is made, any other is what is made. */
function pathsMade({ text, target, isDirectory }: Transfer, cwd: string): readonly string[] {
  const name = partsOf(text).at(-1) ?? "";
  const inside = /^(\.\.)?$/.test(name) ? [] : [changeDirectory(`${target}/${name}`, cwd)];
  return isDirectory ? inside : [changeDirectory(target, cwd), ...inside];
}

function isSymbolicLink(program: string, options: Options): boolean {
  return /^(ln|cp)$/.test(program) && hasFlag(options, "-s symbolic symbolic-link");
}

/** For a program that makes no symbolic link. */
function isHardLink(program: string, options: Options): boolean {
  return program === "ln" || program === "link" || (program === "cp" && hasFlag(options, "-l link"));
}

function putCopy(path: string, source: string, made: MadePaths): void {
  if (isUnresolved(source)) return;
  made.copies.set(path, source);
  // A link that is moved, or copied as a link, leads where it led before.
  for (const target of made.links.at(source)) made.links.add(path, target);
}

interface Transfer {
  readonly text: string;
  readonly target: string;
  /** Whether the target is sure to be a directory. */
  readonly isDirectory: boolean;
}

/** What goes where; `ln` with one operand makes its link here. */
function transfersOf(program: string, options: Options): readonly Transfer[] {
  const [into] = valuesOf(options, "-t target-directory");
  const operands = options.operands.map(({ text }) => text);
  const isLoneName = program === "ln" && operands.length === 1;
  const directory = into?.text ?? (isLoneName ? "." : undefined);
  if (directory !== undefined)
    return operands.map((text) => ({ text, target: directory, isDirectory: true }));
  const isOne = program !== "ln" || operands.length > POLICY_MADE_NAMES_MAX_COUNT;
  const named = isOne ? operands.slice(1).slice(-1) : operands.slice(1);
  const last = operands.length - named.length;
  return named.flatMap((target, i) =>
    operands
      .slice(0, last + i)
      .map((text) => ({ text, target, isDirectory: /(^|\/)\.{1,2}\/*$/.test(target) })),
  );
}
