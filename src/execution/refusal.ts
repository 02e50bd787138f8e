// The error for a refused command: the rule, the reason, the alternative, the directory, and the part of the command at
// fault.
import type { Span } from "../policy/shell-model/span.ts";
import { defined } from "../support/defined.ts";
import { type ErrorCode, NacreError, type RefusalDetails } from "../support/errors.ts";
import { wirePath } from "../support/path-text.ts";

/** The metadata of a refused call. */
export type RefusalMetadata = Partial<RefusalDetails>;

/** The reason in a verdict or an approval request. */
export interface Why {
  readonly rule?: string | null;
  readonly reason?: string | null;
  readonly alternative?: string | null;
  readonly span?: Span | null;
  /** The id of the approval request. Missing if the policy denied the command, or if the answer was no. */
  readonly approval_id?: string;
}

export class Refusal extends NacreError implements RefusalDetails {
  override readonly rule: string;
  override readonly reason: string;
  override readonly alternative: string;
  override readonly cwd: string;
  override readonly span: Span | null;

  constructor(
    code: RefusalCode,
    message: string,
    { rule, reason, alternative, span, approval_id }: Why,
    cwd: string,
    options?: { readonly cause?: unknown },
  ) {
    super(code, message, options);
    this.rule = rule ?? UNNAMED_RULE;
    this.reason = reason ?? "";
    this.alternative = alternative ?? "";
    this.cwd = cwd;
    this.span = span ?? null;
    if (approval_id !== undefined) Object.assign(this, { approval_id });
  }
}

const REFUSAL_CODES = ["policy_denied", "approval_refused", "approval_pending", "approval_expired"] as const;
type RefusalCode = (typeof REFUSAL_CODES)[number];

export function isRefusalCode(code: ErrorCode): boolean {
  return REFUSAL_CODES.some((one) => one === code);
}

/** Used if the host's own judge returns no rule. */
export const UNNAMED_RULE = "unnamed";

export function refusalMetadata(error: unknown): RefusalMetadata {
  if (!(error instanceof Refusal)) return {};
  const { rule, reason, alternative, cwd, span, approval_id } = error;
  return { rule, reason, alternative, cwd: wirePath(cwd), span, ...defined({ approval_id }) };
}

/** The reason as sentences: `rm would delete a home directory (rule delete-home). Instead: …`. */
export function explainRefusal({ rule, reason, alternative }: Why): string {
  const instead = typeof alternative === "string" ? ` Instead: ${asSentence(alternative)}` : "";
  return `${(reason || "no reason given").replace(/\.$/, "")} (rule ${rule ?? UNNAMED_RULE}).${instead}`;
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
