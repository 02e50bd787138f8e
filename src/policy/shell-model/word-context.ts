// The part of the walk that the evaluation of words uses.

import type { ArithmeticExpansionPart, ProcessSubstitutionPart, SyntaxNode } from "unbash";
import type { Where } from "../paths/paths.ts";
import type { Budget } from "./budget.ts";
import type { DataOrigin, Flow } from "./flow.ts";
import type { Scope } from "./script-scope.ts";

/** Syntax nodes that contain another script. */
export type Substitution = Extract<
  SyntaxNode,
  { type: "CommandExpansion" | "ArithmeticCommandExpansion" | "ProcessSubstitution" }
>;

export interface WordContext {
  readonly scope: Scope;
  readonly where: Where;
  readonly budget: Budget;
  /** Walks a substitution and returns its output. */
  substitute(part: Exclude<Substitution, ProcessSubstitutionPart>): Flow;
  /** Records the origins of a substituted value. */
  carry(origins: readonly DataOrigin[]): void;
  /** Walks a process substitution and returns its output. */
  connect(part: ProcessSubstitutionPart): Flow;
  /** Walks the commands inside an arithmetic expression. */
  arithmetic(part: ArithmeticExpansionPart): void;
  /** Reports that data is evaluated as code. */
  evaluated(detail: string): void;
}
