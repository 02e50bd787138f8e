// Asks a person about one command: builds the request, waits for the answer, and creates the refusal.
import { ApprovalDesk, type Asked, type Unanswered } from "../approvals/approval-desk.ts";
import type { ApprovalEnd } from "../approvals/approval-record.ts";
import type { JudgedEffect } from "../approvals/judged-effect.ts";
import { labelOf } from "../engine/meta.ts";
import type { Severity } from "../policy/verdict.ts";
import { defined } from "../support/defined.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { callOrigin } from "../support/events.ts";
import { excerpt } from "../support/excerpt.ts";
import { isWithin } from "../support/path-text.ts";
import type {
  ApprovalAnswer,
  ApprovalEffect,
  ApprovalRequest,
  ExecutionContext,
  PreviewSummary,
  RememberWish,
} from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { explainRefusal, Refusal, UNNAMED_RULE, type Why } from "./refusal.ts";
import { scopeOf } from "./scope.ts";
import type { EntryPoint } from "./ways-to-allow.ts";

interface WantedApproval {
  readonly command: string;
  readonly description?: string;
  readonly background: boolean;
  /** Null for a command outside a session. */
  readonly session: { readonly id: string } | null;
}

export function requestFor(
  { command, description, background, session }: WantedApproval,
  { rule, reason, alternative, span, severity }: Why & { readonly severity: Severity },
  cwd: string,
  effects: () => readonly ApprovalEffect[],
  preview?: PreviewSummary,
): ApprovalRequest {
  let found: readonly ApprovalEffect[] | undefined;
  return {
    command,
    ...labelOf(defined({ description })),
    rule: rule ?? UNNAMED_RULE,
    reason: reason ?? "",
    ...(typeof alternative === "string" ? { alternative } : {}),
    cwd,
    session: session?.id ?? null,
    background,
    severity,
    span: span ?? null,
    ...(preview ? { preview } : {}),
    // A getter, because listing the effects means analyzing the command a second time: do this only if the host reads
    // them.
    get effects() {
      found ??= effects();
      return found;
    },
  };
}

export interface Asking {
  readonly request: ApprovalRequest;
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
  /** The effects that a remembered answer would apply to; null if they are not known. */
  readonly judged: readonly JudgedEffect[] | null;
  /** Describes how to allow the command without asking a person, for the message about a pending request. */
  readonly waysToAllow: () => string;
  readonly entryPoint: EntryPoint;
}

/**
 * Returns when a person has approved the request. Throws a refusal if a person refused it, if no person has answered
 * yet, or if the deadline has passed. Also throws if the caller cancels the call.
 */
export async function askFor(asking: Asking): Promise<void> {
  const { request, context, options } = asking;
  const asked = await answerTo(asking);
  if ("deadline" in asked) throw unanswered(asked, asking);
  const { command, rule } = request;
  const { id } = asked;
  const isYes = asked.kind === "remembered" ? asked.allow : asked.end.status === "approved";
  const by = asked.kind === "remembered" ? "remembered answer" : asked.end.by;
  options.events.emit("approval", { command, rule, approved: isYes, id, by, ...callOrigin(context) });
  if (isYes) return;
  throw asked.kind === "remembered" ? refusedAsBefore(request, asked) : refusedBy(request, asked.end);
}

async function answerTo({ request, context, options, judged, entryPoint }: Asking): Promise<Asked> {
  const { approve, signal } = context;
  const { command, cwd, session, background, rule, reason, alternative, severity, span, effects, preview } =
    request;
  const { description } = request;
  try {
    return await ApprovalDesk.of(options.manager().root).ask({
      wanted: {
        ...{ command, cwd, session, background, rule, reason, severity, span, effects, judged },
        ...(alternative === undefined ? {} : { alternative }),
        ...(description === undefined ? {} : { description }),
        ...(preview ? { preview } : {}),
        scope: scopeOf(context),
        workspace: context.workingDir,
        deadlineMs: options.approvalDeadlineMs,
      },
      approve: approve && (async (about) => readAnswer(await approve(request, about), request)),
      pendingAfterMs: options.returnAfterMs,
      // `nacre run` exits once its call has failed.
      outlives: entryPoint === "cli",
      signal,
    });
  } catch (error) {
    if (signal?.aborted || error instanceof NacreError) throw error;
    const words = `Command needs approval, and asking for it failed: ${messageOf(error)}. Nothing was run.`;
    throw new Refusal("approval_refused", words, request, request.cwd, { cause: error });
  }
}

function unanswered(asked: Unanswered, asking: Asking): Refusal {
  const { request, context } = asking;
  const { id, deadline } = asked;
  const why = explainRefusal(request);
  const details = { ...request, approval_id: id };
  if (asked.kind === "expired") {
    const words = `Command needs approval, and no person answered before the deadline (${deadline}): ${why} Nothing was run. Approval id: ${id}.`;
    return new Refusal("approval_expired", words, details, request.cwd);
  }
  const offer = previewOffer(asking);
  const how = `A person can approve it until ${deadline} with: nacre approve ${id}, or on the page of nacre ui. Then repeat exactly this call.${offer}`;
  const words = context.approve
    ? `Command needs approval, and no person has answered yet: ${why} ${how} Nothing was run.`
    : `Command needs approval, and no person can be asked here: ${why} ${how} ${asking.waysToAllow()} Nothing was run.`;
  return new Refusal("approval_pending", words, details, request.cwd);
}

/** If the command only changes workspace files, returns a sentence that suggests a preview. */
function previewOffer({ request, context, options, entryPoint }: Asking): string {
  const { effects, preview } = request;
  const workspace = options.manager().confiner.workspaceFor(context.workingDir);
  const changes = effects.filter(({ effect }) => effect !== "read");
  if (preview || changes.length === 0 || !changes.every(({ path }) => isWithin(path, workspace))) return "";
  if (entryPoint === "cli") return " nacre run --preview shows what it would change, without an approval.";
  return options.withPreview
    ? " The same call with preview: true shows what it would change, without an approval."
    : "";
}

/**
 * Only true and { allow: true } approve a command. With any other return value of the callback, the command must not
 * run.
 */
function readAnswer(answer: unknown, request: ApprovalRequest): ApprovalAnswer {
  const given = typeof answer === "object" && answer !== null ? answer : { allow: answer };
  const { allow, reason, by, remember }: Partial<Record<keyof ApprovalAnswer, unknown>> = given;
  if (typeof allow === "boolean")
    return {
      allow,
      ...(typeof reason === "string" ? { reason } : {}),
      ...(typeof by === "string" ? { by } : {}),
      // The approval store validates it.
      ...(typeof remember === "object" && remember !== null ? { remember: remember as RememberWish } : {}),
    };
  const words = `Command needs approval: ${explainRefusal(request)} approve returned ${excerpt(answer)}; only true or { allow: true } approves. Nothing was run.`;
  throw new Refusal("approval_refused", words, request, request.cwd);
}

function refusedAsBefore(
  request: ApprovalRequest,
  { id, until }: Extract<Asked, { readonly kind: "remembered" }>,
): Refusal {
  const words = `A person has refused such commands until ${until} (remembered answer ${id}): ${explainRefusal(request)} Nothing was run.`;
  return new Refusal("approval_refused", words, request, request.cwd);
}

/** The refusal for a request that was denied or withdrawn. */
function refusedBy(request: ApprovalRequest, { status, by, reason }: ApprovalEnd): Refusal {
  const answer = reason === undefined || reason === "" ? "" : ` The answer was: ${JSON.stringify(reason)}.`;
  const words = status === "denied" ? "A person refused the command" : `The request was withdrawn by ${by}`;
  const message = `${words}: ${explainRefusal(request)}${answer} Nothing was run.`;
  return new Refusal("approval_refused", message, request, request.cwd);
}
