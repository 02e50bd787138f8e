// May this command run? Asks the policy, and a person where the policy wants one. Nothing runs before this.
import type { Verdict } from "../policy/verdict.ts";
import { throwIfAborted } from "../support/abort.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import type { ApprovalRequest, ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./options.ts";
import { whoseCall } from "./scope.ts";
import { checkSyntax } from "./syntax-check.ts";
import { waysToAllow } from "./ways-to-allow.ts";

/** Returns where it may; throws what the caller is to be told where it may not. */
export async function requirePermission(
  command: string,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
  cwd = context.workingDir,
): Promise<void> {
  const judging = await options.loadJudging();
  const facts = judging.facts(context.workingDir, cwd);
  const verdict = judging.judge(command, facts);
  const whose = whoseCall(context);
  options.events.emit("verdict", {
    command,
    verdict: verdict.verdict,
    rule: verdict.rule,
    reason: verdict.reason ?? "",
    ...whose,
  });
  if (verdict.verdict === "allow") return;
  const why = `${verdict.reason ?? "no reason given"} (rule ${verdict.rule ?? "unnamed"}).${instead(verdict)}`;
  if (verdict.verdict === "deny") {
    throw new NacreError("policy_denied", `Command blocked as dangerous: ${why} Nothing was run.`);
  }
  // Nobody needs to be asked about what bash would refuse anyway.
  if (verdict.findings.some(({ rule }) => rule === "unparsed")) await checkSyntax(command, context, options);
  if (!context.approve) {
    const how = waysToAllow(command, verdict, facts, judging);
    throw new NacreError(
      "approval_refused",
      `Command needs approval, and nobody is there to ask: ${why} ${how} Nothing was run.`,
    );
  }
  const approved = await answerTo(
    {
      command,
      rule: verdict.rule ?? "unnamed",
      reason: verdict.reason ?? "",
      ...(verdict.alternative === null ? {} : { alternative: verdict.alternative }),
    },
    context.approve,
    context.signal,
  );
  options.events.emit("approval", { command, rule: verdict.rule ?? "unnamed", approved, ...whose });
  if (!approved)
    throw new NacreError("approval_refused", `A person refused the command: ${why} Nothing was run.`);
}

/** The person's answer; a caller that gives up does not wait for it. */
async function answerTo(
  request: ApprovalRequest,
  approve: NonNullable<ExecutionContext["approve"]>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let leave = () => {};
  const gaveUp = new Promise<false>((resolve) => {
    leave = () => resolve(false);
    signal?.addEventListener("abort", leave, { once: true });
  });
  try {
    const answer = await Promise.race([approve(request), gaveUp]);
    throwIfAborted(signal);
    // Only a plain yes is one: whatever else a callback returns must not run anything.
    return answer === true;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new NacreError(
      "approval_refused",
      `Command needs approval, and asking for it failed: ${messageOf(error)}. Nothing was run.`,
      { cause: error },
    );
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

function instead({ alternative }: Verdict): string {
  return alternative === null ? "" : ` Instead: ${alternative}`;
}
