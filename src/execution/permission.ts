// May this command run? Asks the policy, and a person where the policy wants one. Nothing runs before this.
import type { Verdict } from "../policy/verdict.ts";
import { NacreError } from "../support/errors.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./options.ts";

/** Returns where it may; throws what the caller is to be told where it may not. */
export async function requirePermission(
  command: string,
  context: ExecutionContext,
  { judge, facts }: ResolvedExecutionOptions,
): Promise<void> {
  const verdict = judge(command, facts(context.workingDir));
  if (verdict.verdict === "allow") return;
  const why = `${verdict.reason ?? "no reason given"} (rule ${verdict.rule ?? "unnamed"}).${instead(verdict)}`;
  if (verdict.verdict === "deny") {
    throw new NacreError("policy_denied", `Command blocked as dangerous: ${why} Nothing was run.`);
  }
  if (!context.approve) {
    const how = `To allow it, a person can answer (approve callback), or set the policy to "trusting", or allow the rule ${verdict.rule ?? ""} in the policy file.`;
    throw new NacreError(
      "approval_refused",
      `Command needs approval, and nobody is there to ask: ${why} ${how} Nothing was run.`,
    );
  }
  const approved = await context.approve({
    command,
    rule: verdict.rule ?? "unnamed",
    reason: verdict.reason ?? "",
    ...(verdict.alternative === null ? {} : { alternative: verdict.alternative }),
  });
  if (!approved)
    throw new NacreError("approval_refused", `A person refused the command: ${why} Nothing was run.`);
}

function instead({ alternative }: Verdict): string {
  return alternative === null ? "" : ` Instead: ${alternative}`;
}
