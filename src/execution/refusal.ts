// A command that may not run: which rule says so, why, what to do instead, and where it would have run.
import { NacreError } from "../support/errors.ts";
import { wirePath } from "../support/path-text.ts";

/** What a failed call carries about a refusal, in its metadata. */
export interface RefusalMetadata {
  readonly rule?: string;
  readonly reason?: string;
  readonly alternative?: string;
  readonly cwd?: string;
}

/** Why a command may not run, or not without a person: as a verdict or a question says it. */
export interface Why {
  readonly rule?: string | null;
  readonly reason?: string | null;
  readonly alternative?: string | null;
}

export class Refusal extends NacreError {
  readonly rule: string;
  readonly reason: string;
  /** Empty where the rule names none. */
  readonly alternative: string;
  /** The directory the command would have run in. */
  readonly cwd: string;

  constructor(
    code: "policy_denied" | "approval_refused",
    message: string,
    { rule, reason, alternative }: Why,
    cwd: string,
    options?: { readonly cause?: unknown },
  ) {
    super(code, message, options);
    this.rule = rule ?? UNNAMED_RULE;
    this.reason = reason ?? "";
    this.alternative = alternative ?? "";
    this.cwd = cwd;
  }
}

/** For a judge of the host that names no rule. */
export const UNNAMED_RULE = "unnamed";

export function refusalMetadata(error: unknown): RefusalMetadata {
  if (!(error instanceof Refusal)) return {};
  const { rule, reason, alternative, cwd } = error;
  return { rule, reason, alternative, cwd: wirePath(cwd) };
}
