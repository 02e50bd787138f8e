// The input and the result of a judgment: the types that other folders use.

import type { LinkReader } from "./shell-model/link-reader.ts";
import type { SessionFacts } from "./shell-model/session-facts.ts";
import type { Span } from "./shell-model/span.ts";
import type { UserRuleSet } from "./user-rule.ts";

/** Sorted from the loosest to the strictest. */
const DECISIONS = ["allow", "ask", "deny"] as const;
const SEVERITIES = ["none", "low", "medium", "high", "critical"] as const;

export type Decision = (typeof DECISIONS)[number];
export type Severity = (typeof SEVERITIES)[number];
export type Profile = "trusting" | "standard" | "cautious" | "off";

/** Environment variables that determine where nacre looks for its rules and settings, and where it stores its state. */
export const ENVIRONMENT_VARIABLES = ["NACRE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] as const;
type EnvironmentVariable = (typeof ENVIRONMENT_VARIABLES)[number];

/**
 * The environment of a command. The policy does not look anything up itself: a fact that the caller omits is unknown.
 */
export interface PolicyFacts {
  readonly home: string;
  readonly cwd: string;
  /** The tree the agent works in. @default cwd */
  readonly workspace?: string;
  readonly isRoot?: boolean;
  /** @default "standard" */
  readonly profile?: Profile;
  /** Whether the command runs in an enforced sandbox. */
  readonly sandboxed?: boolean;
  /** Whether the command gets a terminal: more commands can then be typed into it later. */
  readonly terminal?: boolean;
  readonly rules?: readonly UserRuleSet[];
  /** Additional rule files. A command that changes one of them needs approval. */
  readonly policyFiles?: readonly string[];
  /** The directories in which nacre keeps its state, such as approval requests. @default ~/.local/state/nacre */
  readonly stateRoots?: readonly string[];
  /** The values that the command inherits. Only values that are absolute paths are included. @default unset */
  readonly environment?: Readonly<Partial<Record<EnvironmentVariable, string>>>;
  /** The changes that earlier commands made in the bash of the session. @default no changes */
  readonly session?: SessionFacts;
  /** Looks up symbolic links. @default paths contain no links */
  readonly links?: LinkReader;
}

/** A rule that matched a part of the command. */
export interface Finding {
  readonly rule: string;
  readonly verdict: "ask" | "deny";
  readonly severity: Severity;
  readonly reason: string;
  readonly span: Span;
  readonly alternative: string | null;
  /** What lifted the finding: the name of a profile, or the id of a user rule; null if nothing lifted it. */
  readonly liftedBy: string | null;
}

/** Sorts findings by strictness: lifted findings last, then by verdict and severity. */
export function byStrictness(a: Finding, b: Finding): number {
  return (
    Number(a.liftedBy !== null) - Number(b.liftedBy !== null) ||
    DECISIONS.indexOf(b.verdict) - DECISIONS.indexOf(a.verdict) ||
    SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity)
  );
}

export interface Verdict {
  readonly verdict: Decision;
  /** The id of the rule that decided the verdict; null if no rule did. */
  readonly rule: string | null;
  readonly severity: Severity;
  readonly reason: string | null;
  readonly span: Span | null;
  readonly alternative: string | null;
  /** All findings, strictest first, including lifted ones. */
  readonly findings: readonly Finding[];
}

export interface ExplainedPath {
  readonly effect: string;
  readonly path: string;
  readonly class: string;
  readonly recursive: boolean;
}

export interface ExplainedCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** The wrappers and shells that run the command, outermost first. */
  readonly via: readonly string[];
  readonly cwd: readonly string[];
  readonly span: Span;
  readonly paths: readonly ExplainedPath[];
  readonly rules: readonly string[];
}

/** A verdict with the commands, paths and rules that led to it. */
export interface Explanation {
  readonly command: string;
  readonly parse: { readonly ok: boolean; readonly problems: readonly string[] };
  readonly commands: readonly ExplainedCommand[];
  readonly verdict: Verdict;
}
