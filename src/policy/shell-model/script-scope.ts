// The state at one point of a script: variables, positional parameters, functions, aliases, the directory, and the
// files that the script wrote. A variable has several values if branches assign different ones.

import type { Function as FunctionNode } from "unbash";
import {
  POLICY_ALTERNATIVES_MAX_COUNT,
  POLICY_FOLDED_MAX_CHARS,
  POLICY_PATH_MAX_CHARS,
  POLICY_VARIABLES_MAX_COUNT,
} from "../../support/limits.ts";
import type { Budget } from "./budget.ts";
import { Directories, union as unionOf } from "./directories.ts";
import { type DataOrigin, type Flow, joinOrigins, NO_ORIGINS } from "./flow.ts";
import type { MadePaths } from "./made-paths.ts";
import { UNKNOWN } from "./marks.ts";
import { type Names, NO_NAMES } from "./names.ts";

export interface Variable {
  /** Every value that the variable may have. */
  readonly values: readonly string[];
  /** The elements of an array; null for other variables. */
  readonly elements: readonly string[] | null;
  /** The origins of its value. */
  readonly origins: readonly DataOrigin[];
}

/**
 * The files that the script wrote. All scopes of a walk share this table, because a file that a subshell writes is
 * visible everywhere.
 */
export class Files extends Map<string, Flow> {
  /** The files that were written since the last call of runWritten. */
  readonly fresh = new Map<string, Flow>();

  override set(path: string, flow: Flow): this {
    this.fresh?.set(path, flow);
    return super.set(path, flow);
  }
}

/** Set by `break`, `return` and `exit`: the rest of the list does not run. */
export type Ended = "loop" | "function" | "shell";

export class Scope {
  directories: Directories;
  /** How the current list ended; null if it continues. */
  ended: Ended | null = null;
  names: Names = NO_NAMES;
  /** Whether a failing command ends the shell: `set -e`. */
  exitsOnError = false;
  /** The positional parameters; null if unknown. */
  positional: readonly string[] | null = null;
  readonly files: Files;
  /** Shared by all scopes of a walk, like the files. */
  readonly made: MadePaths;
  readonly #budget: Budget;
  #variables: Map<string, Variable>;
  #functions: Map<string, FunctionNode>;
  #aliases: Map<string, string>;
  /** The tables that belong only to this scope. The scope copies any other table before the first write to it. */
  #owns: Owned = ALL;

  constructor(directories: Directories, files: Files, made: MadePaths, budget: Budget) {
    this.directories = directories;
    this.files = files;
    this.made = made;
    this.#budget = budget;
    this.#variables = new Map();
    this.#functions = new Map();
    this.#aliases = new Map();
  }

  get cwds(): readonly string[] {
    return this.directories.now;
  }

  /** Applies the step to every directory that the shell may be in. */
  move(step: (cwd: string) => string): void {
    this.directories = new Directories(this.#after((cwd) => [step(cwd)]));
  }

  /** Like `move`, but the shell may also stay where it is, because the directory may not exist. */
  tryMove(step: (cwd: string) => readonly string[]): void {
    this.directories = this.directories.tried(this.#after(step));
  }

  /** Continues with the next command of a list. With `set -e`, a command that no condition tests has succeeded. */
  goOn(isTested: boolean): void {
    const { directories } = this;
    this.directories = this.exitsOnError && !isTested ? directories.succeeded() : directories.either();
  }

  #after(step: (cwd: string) => readonly string[]): readonly string[] {
    const cwds = new Set<string>();
    for (const cwd of this.cwds) {
      for (const next of step(cwd)) {
        this.#budget.spend(1 + next.length / CHARS_PER_STEP);
        // No system has such a long path: treat it as unknown.
        cwds.add(next.length > POLICY_PATH_MAX_CHARS ? UNKNOWN : next);
      }
    }
    return unionOf([...cwds], []);
  }

  variable(name: string): Variable | undefined {
    return this.#variables.get(name);
  }

  assign(
    name: string,
    values: readonly string[],
    elements: readonly string[] | null = null,
    origins: readonly DataOrigin[] = NO_ORIGINS,
  ): void {
    this.#ownVariables();
    if (this.#variables.size >= POLICY_VARIABLES_MAX_COUNT && !this.#variables.has(name)) return;
    this.#budget.spend(lengthOf(values) / CHARS_PER_STEP);
    this.#variables.set(name, { values: limited(values), elements: elements && limited(elements), origins });
  }

  /** Removes an assigned value. The variable then has the value that bash itself gives it. */
  unassign(name: string): void {
    if (!this.#variables.has(name)) return;
    this.#ownVariables();
    this.#variables.delete(name);
  }

  forget(name: string): void {
    this.assign(name, [UNKNOWN]);
  }

  functionNamed(name: string): FunctionNode | undefined {
    return this.#functions.get(name);
  }

  define(name: string, body: FunctionNode): void {
    this.#ownNames();
    this.#functions.set(name, body);
    this.names = this.names.withoutRedefined(name);
  }

  /** Removes a function, as `unset -f` does. */
  undefine(name: string): void {
    this.#ownNames();
    this.#functions.delete(name);
    this.names = this.names.withoutRedefined(name);
  }

  alias(name: string): string | undefined {
    return this.#aliases.get(name);
  }

  setAlias(name: string, text: string): void {
    this.#ownNames();
    this.#aliases.set(name, text);
  }

  removeAlias(name: string): void {
    this.#ownNames();
    this.#aliases.delete(name);
  }

  /** Whether bash expands aliases. In a script, bash does so only if the option `expand_aliases` is set. */
  get expandsAliases(): boolean {
    return this.names.options?.has("expand_aliases") ?? true;
  }

  hasOption(name: string): boolean {
    return this.names.options?.has(name) ?? false;
  }

  /** An independent copy for a subshell or a branch. Tables are copied on the first write. */
  fork(): Scope {
    this.#budget.spend();
    const copy = new Scope(this.directories, this.files, this.made, this.#budget);
    copy.positional = this.positional;
    copy.exitsOnError = this.exitsOnError;
    copy.names = this.names;
    copy.#variables = this.#variables;
    copy.#functions = this.#functions;
    copy.#aliases = this.#aliases;
    copy.#owns = NONE;
    this.#owns = NONE;
    return copy;
  }

  /** Merges the state at the end of another branch into this one. */
  merge(other: Scope): void {
    this.#budget.spend();
    if (this.directories !== other.directories && other.ended === null) this.#mergeDirectories(other);
    if (this.positional !== other.positional) this.positional = null;
    this.names = this.names.with(other.names);
    if (other.#variables !== this.#variables) this.#mergeVariables(other);
    if (other.#functions === this.#functions && other.#aliases === this.#aliases) return;
    this.#budget.spend((other.#functions.size + other.#aliases.size) / NAMES_PER_STEP);
    for (const [name, body] of other.#functions) if (!this.#functions.has(name)) this.define(name, body);
    for (const [name, text] of other.#aliases) if (!this.#aliases.has(name)) this.setAlias(name, text);
  }

  /** Whether nothing has changed since the other scope was forked. */
  sameAs(other: Scope): boolean {
    return (
      this.#variables === other.#variables &&
      this.directories === other.directories &&
      this.positional === other.positional
    );
  }

  #mergeDirectories(other: Scope): void {
    this.#budget.spend(lengthOf(other.cwds) / CHARS_PER_STEP);
    this.directories = this.directories.with(other.directories);
  }

  #mergeVariables(other: Scope): void {
    this.#ownVariables();
    this.#budget.spend(other.#variables.size / NAMES_PER_STEP);
    for (const [name, theirs] of other.#variables) {
      const ours = this.#variables.get(name);
      if (ours === theirs) continue;
      this.assign(
        name,
        union(ours?.values ?? [UNKNOWN], theirs.values),
        theirs.elements ?? ours?.elements ?? null,
        joinOrigins(ours?.origins ?? NO_ORIGINS, theirs.origins),
      );
    }
  }

  #ownVariables(): void {
    if (this.#owns.variables) return;
    this.#budget.spend(this.#variables.size / NAMES_PER_STEP);
    this.#variables = new Map(this.#variables);
    this.#owns = { ...this.#owns, variables: true };
  }

  /**
   * Copies the tables of names before a write. This costs more than copying variables, because each function
   * definition retains a copy of these tables.
   */
  #ownNames(): void {
    if (this.#owns.names) return;
    this.#budget.spend((this.#functions.size + this.#aliases.size) * KEPT_NAME_STEPS);
    this.#functions = new Map(this.#functions);
    this.#aliases = new Map(this.#aliases);
    this.#owns = { ...this.#owns, names: true };
  }
}

interface Owned {
  readonly variables: boolean;
  readonly names: boolean;
}

const ALL: Owned = { variables: true, names: true };
const NONE: Owned = { variables: false, names: false };

/** The number of characters that one step copies or compares. */
const CHARS_PER_STEP = 128;
/** The number of names that one step copies or compares. */
const NAMES_PER_STEP = 16;
/** The cost of copying one name. The copies stay in memory. */
const KEPT_NAME_STEPS = 0.5;

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a === b) return a;
  return limited([...new Set([...a, ...b])]);
}

function limited(all: readonly string[]): readonly string[] {
  const values = all.some(isTooLong) ? all.map((value) => (isTooLong(value) ? UNKNOWN : value)) : all;
  if (values.length <= POLICY_ALTERNATIVES_MAX_COUNT) return values;
  return [...values.slice(0, POLICY_ALTERNATIVES_MAX_COUNT), UNKNOWN];
}

const isTooLong = (value: string): boolean => value.length > POLICY_FOLDED_MAX_CHARS;
