// `nacre run --json`: the result of the tool as one flat JSON object; the exit code is the command's.
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from "../../support/limits.ts";
import type { ToolResult } from "../../tool/result.ts";
import { createToolkit } from "../../toolkit.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { approverFor, policyOf, refusalExitCode } from "../permission.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runForJson(io: CliIo, plan: RunPlan): Promise<number> {
  const { command, workingDir, env, mode, dryRun, timeoutMs = DEFAULT_TIMEOUT_MS } = plan;
  await using kit = await createToolkit({
    ...managerOptionsOf(plan),
    workingDir,
    ...policyOf(plan),
    dialect: mode === undefined ? "shells" : "modes",
    defaultTimeoutMs: timeoutMs,
    maxTimeoutMs: Math.max(timeoutMs, MAX_TIMEOUT_MS),
    ...approverFor(io),
  });
  const cancel = new AbortController();
  using interruption = new Interruption(() => cancel.abort());
  const context = { env, dryRun, signal: cancel.signal };
  const result =
    mode === undefined
      ? await kit.call("Bash", { command }, context)
      : await kit.call("bash", { command, mode }, { ...context, timeoutMs });
  io.stdout.write(`${JSON.stringify(result.toWire())}\n`);
  return interruption.exitCode ?? exitCodeOf(result);
}

function exitCodeOf({ success, code, metadata }: ToolResult): number {
  if (success) return EXIT.ok;
  if (code === "timed_out") return EXIT.timedOut;
  const own = metadata["exit_code"];
  return refusalExitCode(code) ?? (typeof own === "number" ? own : EXIT.failed);
}
