// Asks a person about one command: the request, the answer, and the refusal.
import type { Severity } from "../policy/verdict.ts";
import { throwIfAborted } from "../support/abort.ts";
import { messageOf } from "../support/errors.ts";
import { excerpt } from "../support/excerpt.ts";
import type { ApprovalAnswer, ApprovalEffect, ApprovalRequest, ExecutionContext } from "../tool/context.ts";
import { explainRefusal, Refusal, UNNAMED_RULE, type Why } from "./refusal.ts";

interface Asked {
  readonly command: string;
  readonly background: boolean;
  /** Null for a command outside a session. */
  readonly session: { readonly id: string } | null;
}

export function requestFor(
  { command, background, session }: Asked,
  { rule, reason, alternative, span, severity }: Why & { readonly severity: Severity },
  cwd: string,
  effects: () => readonly ApprovalEffect[],
): ApprovalRequest {
  let found: readonly ApprovalEffect[] | undefined;
  return {
    command,
    rule: rule ?? UNNAMED_RULE,
    reason: reason ?? "",
    ...(typeof alternative === "string" ? { alternative } : {}),
    cwd,
    session: session?.id ?? null,
    background,
    severity,
    span: span ?? null,
    // Listing the effects takes a second analysis of the command. Do that only if the host asks for them.
    get effects() {
      found ??= effects();
      return found;
    },
  };
}

/** The answer of the person; throws if the caller cancels the call meanwhile. */
export async function askFor(
  request: ApprovalRequest,
  approve: NonNullable<ExecutionContext["approve"]>,
  signal: AbortSignal | undefined,
): Promise<ApprovalAnswer> {
  let leave = () => {};
  const gaveUp = new Promise<false>((resolve) => {
    leave = () => resolve(false);
    signal?.addEventListener("abort", leave, { once: true });
  });
  try {
    const answer = await Promise.race([approve(request), gaveUp]);
    throwIfAborted(signal);
    return readAnswer(answer, request);
  } catch (error) {
    if (signal?.aborted || error instanceof Refusal) throw error;
    const words = `Command needs approval, and asking for it failed: ${messageOf(error)}. Nothing was run.`;
    throw new Refusal("approval_refused", words, request, request.cwd, { cause: error });
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

/** Only true and { allow: true } approve: no other value that a callback returns may run a command. */
function readAnswer(answer: unknown, request: ApprovalRequest): ApprovalAnswer {
  const given = typeof answer === "object" && answer !== null ? answer : { allow: answer };
  const { allow, reason }: { allow?: unknown; reason?: unknown } = given;
  if (typeof allow === "boolean") return { allow, ...(typeof reason === "string" ? { reason } : {}) };
  const words = `Command needs approval: ${explainRefusal(request)} approve returned ${excerpt(answer)}; only true or { allow: true } approves. Nothing was run.`;
  throw new Refusal("approval_refused", words, request, request.cwd);
}

/** `givenReason`: the reason that the person gave. */
export function refusedBy(request: ApprovalRequest, givenReason: string | undefined): Refusal {
  const answer =
    givenReason === undefined || givenReason === "" ? "" : ` The answer was: ${JSON.stringify(givenReason)}.`;
  const words = `A person refused the command: ${explainRefusal(request)}${answer} Nothing was run.`;
  return new Refusal("approval_refused", words, request, request.cwd);
}
