// `nacre run --json`: the result of the tool as one flat JSON object; the exit code is the command's.

import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from "../../support/limits.ts";
import { checkWorkingDir } from "../../support/start-checks.ts";
import type { ToolResult } from "../../tool/result.ts";
import { createToolkit, type Toolkit } from "../../toolkit.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT, failureExitCode } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { approverFor, judgingOf } from "../permission.ts";
import { inNamedSession, namedSessionAsLeft } from "./named-session.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runForJson(io: CliIo, plan: RunPlan): Promise<number> {
  const { workingDir, session, mode, timeoutMs = DEFAULT_TIMEOUT_MS } = plan;
  // In the words that the other forms have for it.
  checkWorkingDir(workingDir, undefined);
  // A toolkit knows by itself that the policy file is to be protected.
  const { trustedFiles: _, ...options } = managerOptionsOf(plan);
  await using kit = await createToolkit({
    ...options,
    workingDir,
    ...judgingOf(plan),
    // The modes have no sessions: there the word is only a time.
    dialect: mode === undefined || session !== undefined ? "shells" : "modes",
    defaultTimeoutMs: timeoutMs,
    maxTimeoutMs: Math.max(timeoutMs, MAX_TIMEOUT_MS),
    ...(session === undefined ? {} : { sessionId: session }),
    ...approverFor(io),
  });
  const cancel = new AbortController();
  using interruption = new Interruption(() => cancel.abort());
  const result = await called(io, kit, plan, cancel.signal);
  io.stdout.write(`${JSON.stringify(result.toWire())}\n`);
  return interruption.exitCode ?? exitCodeOf(result);
}

async function called(io: CliIo, kit: Toolkit, plan: RunPlan, signal: AbortSignal): Promise<ToolResult> {
  const { command, env, mode, dryRun, session: name, timeoutMs } = plan;
  const context = { env, dryRun, signal };
  if (name !== undefined) {
    const place = { ...plan, name };
    // The session of that name is the one that the call runs in.
    const call = () => kit.call("Bash", { command }, context);
    if (!dryRun) return await inNamedSession(io, kit.manager, place, call);
    namedSessionAsLeft(kit.manager, place);
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
