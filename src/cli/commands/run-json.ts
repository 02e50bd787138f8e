// `nacre run --json`: the result of the Bash tool as one flat JSON object; the exit code is the command's.
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from "../../support/limits.ts";
import type { ToolResult } from "../../tool/result.ts";
import { createToolkit } from "../../toolkit.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { approverFor, policyOf, refusalExitCode } from "../permission.ts";
import type { RunPlan } from "./run-plan.ts";

export async function runForJson(io: CliIo, plan: RunPlan): Promise<number> {
  const { command, workingDir, env, timeoutMs = DEFAULT_TIMEOUT_MS } = plan;
  await using kit = await createToolkit({
    workingDir,
    ...policyOf(plan),
    poolSize: 0,
    defaultTimeoutMs: timeoutMs,
    maxTimeoutMs: Math.max(timeoutMs, MAX_TIMEOUT_MS),
    ...approverFor(io),
  });
  const result = await kit.call("Bash", { command }, { env });
  io.stdout.write(`${JSON.stringify(result.toWire())}\n`);
  return exitCodeOf(result);
}

function exitCodeOf({ success, code, metadata }: ToolResult): number {
  if (success) return EXIT.ok;
  if (code === "timed_out") return EXIT.timedOut;
  const own = metadata["exit_code"];
  return refusalExitCode(code) ?? (typeof own === "number" ? own : EXIT.failed);
}
