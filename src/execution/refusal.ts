// The error for a refused command: the rule, the reason, the alternative, and the directory in which it would have run.
import { NacreError } from "../support/errors.ts";
import { wirePath } from "../support/path-text.ts";

/** The metadata of a refused call. */
export interface RefusalMetadata {
  readonly rule?: string;
  readonly reason?: string;
  readonly alternative?: string;
  readonly cwd?: string;
}

/** The reason in a verdict or an approval request. */
export interface Why {
  readonly rule?: string | null;
  readonly reason?: string | null;
  readonly alternative?: string | null;
}

export class Refusal extends NacreError {
  readonly rule: string;
  readonly reason: string;
  /** Empty if the rule has none. */
  readonly alternative: string;
  /** The directory in which the command would have run. */
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

/** For a judge of the host that returns no rule. */
export const UNNAMED_RULE = "unnamed";

export function refusalMetadata(error: unknown): RefusalMetadata {
  if (!(error instanceof Refusal)) return {};
  const { rule, reason, alternative, cwd } = error;
  return { rule, reason, alternative, cwd: wirePath(cwd) };
}
