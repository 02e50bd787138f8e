// Effective commands: commands whose words are evaluated and whose wrappers are removed. This file also defines the
// interface through which wrappers, shells and interpreters pass on the commands that they would run.

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
  /** Whether this is another possible value of the same word as the field before it: `${D:-/etc}`. */
  readonly isAlternative?: true;
  /** The output of the process substitution, if the word is one. */
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
  /** Whether the name is a function or an alias whose text is walked as well. */
  readonly isDefined: boolean;
  readonly args: readonly Field[];
  readonly assignments: readonly AssignedValue[];
  readonly redirects: readonly Redirection[];
  /** The directories that the command may run in. */
  readonly cwds: readonly string[];
  readonly via: readonly string[];
  readonly stdin: Flow;
  /** Resolves symbolic links in paths. */
  readonly links: Links;
  /** The origins of the data that was substituted into the command's words. */
  readonly substituted: readonly DataOrigin[];
  readonly span: Span;
}

/** A danger that the walk finds in the text itself, such as a fork bomb or code that is known only at run time. */
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

/** The state that a command passes to the commands it runs. */
export interface CommandContext {
  readonly scope: Scope;
  readonly stdin: Flow;
  readonly via: readonly string[];
  readonly redirects: readonly Redirection[];
  readonly assignments: readonly AssignedValue[];
  readonly substituted: readonly DataOrigin[];
  readonly span: Span;
}

/** Walks nested commands and texts as part of the same walk. No method really runs anything. */
export interface Runner {
  readonly where: Where;
  readonly profile: Profile;
  readonly isSandboxed: boolean;
  /** Walks an argv and returns its output. */
  runArgv(argv: readonly Field[], around: CommandContext): Flow;
  /** Walks shell text and returns its output. */
  runText(text: string, around: CommandContext): Flow;
  sign(kind: SignKind, span: Span, detail: string): void;
  /** Charges the budget for work that grows with the text. */
  spend(steps: number): void;
}
