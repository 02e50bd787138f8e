// An effective command: what really runs after words are evaluated and wrappers are removed; and the interface through
// which wrappers, shells and interpreters return what they would run.

import type { Where } from "../paths/paths.ts";
import type { Profile } from "../verdict.ts";
import type { DataOrigin, Flow } from "./flow.ts";
import type { Links } from "./links.ts";
import type { Scope } from "./script-scope.ts";
import type { Span } from "./span.ts";

/** One evaluated word. */
export interface Field {
  readonly text: string;
  readonly span: Span;
  /** What can be read from it when it names a process substitution. */
  readonly flow?: Flow;
}

export interface Redirection {
  readonly operator: string;
  readonly descriptor: number | null;
  readonly target: Field;
}

export interface AssignedValue {
  readonly name: string;
  readonly value: string;
  readonly span: Span;
}

export interface EffectiveCommand {
  /** The program's name without its directory. */
  readonly program: string;
  /** The program as it was called. */
  readonly called: string;
  /** Whether the name stands for a function or an alias whose text is walked as well. */
  readonly isDefined: boolean;
  readonly args: readonly Field[];
  readonly assignments: readonly AssignedValue[];
  readonly redirects: readonly Redirection[];
  /** The directories it may run in. */
  readonly cwds: readonly string[];
  readonly via: readonly string[];
  readonly stdin: Flow;
  /** The symbolic links that paths may lead through. */
  readonly links: Links;
  /** Origins of the data that was substituted into its words. */
  readonly substituted: readonly DataOrigin[];
  readonly span: Span;
}

/** A property of the text that belongs to no single command: a fork bomb, code that is unknown before the run. */
export interface Sign {
  readonly kind: SignKind;
  readonly span: Span;
  readonly detail: string;
}

export type SignKind =
  | "fork-bomb"
  | "fork-maybe"
  | "hidden-characters"
  | "unparsed"
  | "too-complex"
  | "hidden-code"
  | "remote-code"
  | "evaluated-data"
  | "unknown-program"
  | "reverse-shell"
  | "runs-program"
  | "unknown-effect"
  | "loosens-policy"
  | "skips-approvals"
  | "policy-error";

/** What a running command passes to the commands inside it. */
export interface CommandContext {
  readonly scope: Scope;
  readonly stdin: Flow;
  readonly via: readonly string[];
  readonly redirects: readonly Redirection[];
  readonly assignments: readonly AssignedValue[];
  readonly substituted: readonly DataOrigin[];
  readonly span: Span;
}

/** Runs nested commands and texts in the same walk, and holds what they are judged by. */
export interface Runner {
  readonly where: Where;
  readonly profile: Profile;
  readonly isSandboxed: boolean;
  /** Runs an argv; returns what it prints. */
  runArgv(argv: readonly Field[], around: CommandContext): Flow;
  /** Runs shell text; returns what it prints. */
  runText(text: string, around: CommandContext): Flow;
  sign(kind: SignKind, span: Span, detail: string): void;
  /** Pays for work that grows with the text. */
  spend(steps: number): void;
}
