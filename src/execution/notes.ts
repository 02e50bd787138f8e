// One-line remarks beside a result: what a caller would otherwise have to find out.
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./options.ts";
import { scopeOf } from "./scope.ts";

export interface NoteFacts {
  readonly shell: ShellProcess;
  readonly leftovers: readonly { readonly pid: number; readonly command: string }[];
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
}

export function notesOn({ shell, leftovers, context, options }: NoteFacts): string[] {
  return [
    ...shell.remarks,
    ...leftoverNote(shell, leftovers),
    ...droppedNote(shell, context, options),
    ...unquotedNote(shell, context),
  ];
}

function leftoverNote(shell: ShellProcess, leftovers: NoteFacts["leftovers"]): string[] {
  if (leftovers.length === 0) return [];
  const names = leftovers.map(({ pid, command }) => `${command} (pid ${pid})`).join(", ");
  return [`Left running: ${names}. KillShell with shell_id="${shell.id}" ends it.`];
}

/** Scopes that have been told, per manager: the names are worth saying once, and whenever they matter. */
const told = new WeakMap<object, Set<string>>();

function droppedNote(
  shell: ShellProcess,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): string[] {
  const manager = options.manager();
  const dropped = manager.environment.dropped.filter(
    ({ reason }) => reason === "secret" || reason === "injection",
  );
  const scopes = told.get(manager) ?? new Set();
  told.set(manager, scopes);
  const first = !scopes.has(scopeOf(context));
  scopes.add(scopeOf(context));
  const failed = shell.exitCode !== 0;
  const named = dropped.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(shell.command));
  const worth = first ? dropped : failed ? named : [];
  if (worth.length === 0) return [];
  const names = worth.map(({ name }) => name).join(", ");
  return [`Not passed on to commands (secrets, or variables that inject code): ${names}`];
}

/** `cat my file.txt` where "my file.txt" exists: the likeliest cause of the failure, worth a hint. */
function unquotedNote(shell: ShellProcess, context: ExecutionContext): string[] {
  if (shell.exitCode === 0 || shell.exitCode === null || /["'\\]/.test(shell.command)) return [];
  const words = shell.command.split(/\s+/).filter((word) => word !== "");
  for (let start = 0; start < words.length; start++) {
    for (let end = start + 2; end <= Math.min(words.length, start + 8); end++) {
      const path = words.slice(start, end).join(" ");
      // A path and not just words: it must have been meant as one.
      if (!/[/.]/.test(path) || !shell.command.includes(path)) continue;
      if (existsSync(isAbsolute(path) ? path : join(context.workingDir, path))) {
        return [`"${path}" exists: quote paths with spaces.`];
      }
    }
  }
  return [];
}
