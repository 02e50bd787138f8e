// What the evaluation of words needs from the walk around it.

import type { ArithmeticExpansionPart, ProcessSubstitutionPart, SyntaxNode } from "unbash";
import type { Where } from "../paths/paths.ts";
import type { Budget } from "./budget.ts";
import type { DataOrigin, Flow } from "./flow.ts";
import type { Scope } from "./script-scope.ts";

/** Everything that holds a script of its own. */
export type Substitution = Extract<
  SyntaxNode,
  { type: "CommandExpansion" | "ArithmeticCommandExpansion" | "ProcessSubstitution" }
>;

export interface WordContext {
  readonly scope: Scope;
  readonly where: Where;
  readonly budget: Budget;
  /** Walks a substitution; answers what it prints. */
  substitute(part: Exclude<Substitution, ProcessSubstitutionPart>): Flow;
  /** Notes where a value that is put in came from. */
  carry(origins: readonly DataOrigin[]): void;
  /** Walks a process substitution; answers what can be read from it. */
  connect(part: ProcessSubstitutionPart): Flow;
  /** Walks an arithmetic expression for what it runs. */
  arithmetic(part: ArithmeticExpansionPart): void;
  /** Notes that data is evaluated as code. */
  evaluated(detail: string): void;
}
