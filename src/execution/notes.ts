// The notes of a result: one-line remarks that save the caller an investigation.
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { DroppedVariable } from "../environment/environment.ts";
import type { Outcome } from "../shell/outcome.ts";
import { HINT_COMMAND_MAX_CHARS, HINT_PATH_MAX_WORDS } from "../support/limits.ts";
import { fsPath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { describeProcess, type Leftover } from "./leftovers.ts";
import { scopeOf } from "./scope.ts";

/** A command that ended. */
export interface EndedCommand {
  readonly command: string;
  readonly exitCode: number | null;
  readonly outcome: Outcome | undefined;
  /** Remarks about the end of the command. */
  readonly remarks: readonly string[];
  readonly leftovers: readonly Leftover[];
  /** The directory in which the command ran. */
  readonly workingDir: string;
}

export interface NoteFacts {
  readonly ended: EndedCommand;
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
  /** Tells the reader how to end the leftovers. */
  readonly howToEnd: string;
}

export function notesOn({ ended, context, options, howToEnd }: NoteFacts): string[] {
  return [
    ...ended.remarks,
    ...leftoverNote(ended.leftovers, howToEnd),
    ...droppedNote(ended, context, options),
    ...unquotedNote(ended),
  ];
}

function leftoverNote(leftovers: readonly Leftover[], howToEnd: string): string[] {
  if (leftovers.length === 0) return [];
  const names = leftovers.map(describeProcess).join(", ");
  return [`Left running: ${names}. ${howToEnd}`];
}

/**
 * The scopes that have received the note about dropped variables, per manager. A scope receives the note with its first
 * result, and again when a command that names such a variable fails.
 */
const notified = new WeakMap<object, Set<string>>();

function droppedNote(
  ended: EndedCommand,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): string[] {
  const manager = options.manager();
  const dropped = droppedOf(options);
  if (dropped.length === 0) return [];
  const scopes = notified.get(manager) ?? new Set();
  notified.set(manager, scopes);
  const first = !scopes.has(scopeOf(context));
  scopes.add(scopeOf(context));
  return first ? notPassedOn(dropped) : missingVariables(ended, options);
}

/** The note for a failed command that names a dropped variable. */
export function missingVariables(
  { command, exitCode }: Pick<EndedCommand, "command" | "exitCode">,
  options: ResolvedExecutionOptions,
): string[] {
  return exitCode === 0 ? [] : notPassedOn(namedIn(command, droppedOf(options)));
}

function droppedOf(options: ResolvedExecutionOptions): DroppedVariable[] {
  const { dropped } = options.manager().environment;
  return dropped.filter(({ reason }) => reason === "secret" || reason === "injection");
}

function notPassedOn(dropped: readonly DroppedVariable[]): string[] {
  if (dropped.length === 0) return [];
  const names = dropped.map(({ name }) => name).join(", ");
  return [`Not passed on to commands (secrets, or variables that inject code): ${names}`];
}

function namedIn<T extends { readonly name: string }>(command: string, variables: readonly T[]): T[] {
  const words = new Set(command.match(/[A-Za-z_]\w*/g));
  return variables.filter(({ name }) => words.has(name));
}

/** A note about missing quotes, if they probably caused the failure: `cat my file.txt` if "my file.txt" exists. */
function unquotedNote({ outcome, command, workingDir }: EndedCommand): string[] {
  if (outcome?.kind !== "exited" || outcome.code === 0) return [];
  // The check tries every sequence of words, so limit it to short commands.
  if (command.length > HINT_COMMAND_MAX_CHARS) return [];
  const found = barePhrases(command).find((path) =>
    existsSync(fsPath(isAbsolute(path) ? path : join(workingDir, path))),
  );
  return found === undefined ? [] : [`"${found}" exists: quote paths that contain spaces.`];
}

/** Sequences of adjacent words with no quote and no operator between them, longest first. */
function barePhrases(command: string): string[] {
  const phrases: string[] = [];
  const bare = command.replace(/"[^"]*"|'[^']*'|\\[\s\S]/g, ";");
  for (const part of bare.split(/[;|&()<>\n\t]+| {2,}/)) {
    const words = part.split(" ").filter((word) => word !== "");
    for (let size = Math.min(words.length, HINT_PATH_MAX_WORDS); size >= 2; size--) {
      for (let start = 0; start + size <= words.length; start++) {
        phrases.push(words.slice(start, start + size).join(" "));
      }
    }
  }
  return phrases;
}
