// `nacre run --json`: prints the tool's result as one flat JSON object and exits with the command's exit code.
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from "../../support/limits.ts";
import { checkWorkingDir } from "../../support/start-checks.ts";
import type { ToolResult } from "../../tool/result.ts";
import { createToolkit, type Toolkit } from "../../toolkit.ts";
import { admissionOptionsOf, approverFor } from "../admit-run.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT, failureExitCode } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { printJson } from "../print.ts";
import { inNamedSession, namedSessionAsLeft } from "./named-session.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runForJson(io: CliIo, plan: RunPlan): Promise<number> {
  const { workingDir, session, mode, timeoutMs = DEFAULT_TIMEOUT_MS } = plan;
  // The same error message as the other forms of `nacre run`.
  checkWorkingDir(workingDir, undefined);
  // The toolkit itself adds the policy file to the trusted files.
  const { trustedFiles: _, ...options } = managerOptionsOf(plan);
  await using kit = await createToolkit({
    ...options,
    workingDir,
    ...admissionOptionsOf(plan),
    // The modes dialect has no sessions: with one, the mode only sets the timeout.
    dialect: mode === undefined || session !== undefined ? "shells" : "modes",
    defaultTimeoutMs: timeoutMs,
    maxTimeoutMs: Math.max(timeoutMs, MAX_TIMEOUT_MS),
    ...(session === undefined ? {} : { sessionId: session }),
    ...approverFor(io),
  });
  const cancel = new AbortController();
  using interruption = new Interruption(() => cancel.abort());
  const result = await callTool(io, kit, plan, cancel.signal);
  printJson(io, result.toWire());
  return interruption.exitCode ?? exitCodeOf(result);
}

async function callTool(io: CliIo, kit: Toolkit, plan: RunPlan, signal: AbortSignal): Promise<ToolResult> {
  const { command, env, mode, dryRun, session: name, timeoutMs } = plan;
  const context = { env, dryRun, signal };
  if (name !== undefined) {
    const options = { ...plan, name };
    // The call runs in the session of that name, which this opens.
    const call = () => kit.call("Bash", { command }, context);
    if (!dryRun) return await inNamedSession(io, kit.manager, options, call);
    namedSessionAsLeft(kit.manager, options);
    return await call();
  }
  return mode === undefined
    ? await kit.call("Bash", { command }, context)
    : await kit.call("bash", { command, mode }, { ...context, ...(timeoutMs ? { timeoutMs } : {}) });
}

function exitCodeOf({ success, code, metadata }: ToolResult): number {
  if (success) return EXIT.ok;
  if (code === "timed_out") return EXIT.timedOut;
  const own = metadata["exit_code"];
  return typeof own === "number" ? own : failureExitCode(code);
}
