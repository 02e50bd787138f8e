// `nacre run --json`: prints the result as one flat JSON object and exits with the command's exit code. The object has
// the keys of a tool result, and stdout and stderr as separate texts.
import { type Admitted, dryRunLine } from "../../execution/admission.ts";
import { bashResult } from "../../execution/bash-result.ts";
import { sandboxNotes, sandboxOf } from "../../execution/confinement-notes.ts";
import { endedResult, endingMetadata } from "../../execution/endings.ts";
import { runForeground } from "../../execution/foreground.ts";
import { leftoversOf } from "../../execution/leftovers.ts";
import { notesOn } from "../../execution/notes.ts";
import { ownScriptParts } from "../../execution/own-script.ts";
import { type OutputParts, render } from "../../execution/render.ts";
import { runAdmitted } from "../../execution/start-command.ts";
import { ShellManager } from "../../shell-manager.ts";
import { DEFAULT_TIMEOUT_MS } from "../../support/limits.ts";
import { checkWorkingDir } from "../../support/start-checks.ts";
import { ToolResult } from "../../tool/result.ts";
import { createToolkit } from "../../toolkit.ts";
import { admissionOptionsOf, admitRun, approverFor } from "../admit-run.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT, failureExitCode } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { printJson } from "../print.ts";
import { inNamedSession, namedSessionAsLeft } from "./named-session.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

interface Ended {
  readonly result: ToolResult;
  readonly streams?: Streams;
}

interface Streams {
  readonly stdout: string;
  readonly stderr: string;
}

export async function runForJson(io: CliIo, plan: RunPlan): Promise<number> {
  // Throw the same error as the other forms of `nacre run`.
  checkWorkingDir(plan.workingDir, undefined);
  const cancel = new AbortController();
  using interruption = new Interruption(io, () => cancel.abort());
  const { result, streams } = await resultOf(io, plan, cancel.signal);
  printJson(io, { ...result.toWire(), ...streams });
  return interruption.exitCode ?? exitCodeOf(result);
}

async function resultOf(io: CliIo, plan: RunPlan, signal: AbortSignal): Promise<Ended> {
  if (plan.mode !== undefined && plan.session === undefined) return await callModesTool(io, plan, signal);
  await using manager = new ShellManager(managerOptionsOf(plan));
  const { command, session: name, dryRun } = plan;
  const asked = { command, description: "" };
  if (dryRun) {
    const session = name === undefined ? undefined : namedSessionAsLeft(manager, { ...plan, name });
    const line = dryRunLine(await admitRun(io, plan, manager, session));
    return { result: ToolResult.ok(line, { ...asked, dry_run: true }) };
  }
  if (name === undefined)
    return await runOnce(await admitRun(io, plan, manager, undefined, signal), plan.timeoutMs);
  return await inNamedSession(io, manager, { ...plan, name }, async (session) => {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = plan;
    const admitted = await admitRun(io, plan, manager, session, signal);
    const { context, options } = admitted;
    const ran = await runAdmitted(admitted, { timeoutMs });
    const result = await bashResult(ran, { asked, context, options, timing: { timeoutMs } });
    return { result, streams: await streamsOf(ran, options) };
  });
}

/** Runs without a session, so the result has no fields or notes about a session. */
async function runOnce(admitted: Admitted, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<Ended> {
  const { command, context, options } = admitted;
  const shell = await runForeground(admitted, { streams: "split", timeoutMs });
  const leftovers = await leftoversOf(shell);
  const parts = ownScriptParts(shell);
  const { text, truncated, outputFile } = await render(parts, options);
  const { exitCode, durationMs, outcome, remarks, workingDir, confinement } = shell;
  const metadata = {
    command,
    description: "",
    exit_code: exitCode,
    duration_ms: Math.round(durationMs),
    containment: options.manager().containment,
    sandbox: sandboxOf(confinement),
    truncated,
    ...endingMetadata(outcome),
    ...(outputFile && { output_file: outputFile }),
    ...(leftovers.length > 0 && { leftovers, bash_id: shell.id }),
  };
  const ended = { command, exitCode, outcome, remarks, leftovers, workingDir };
  const howToEnd = "It ends now, with this command.";
  const notes = [
    ...notesOn({ ended, context, options, howToEnd }),
    ...sandboxNotes(ended, confinement, text),
  ];
  return {
    result: endedResult(outcome, { text, metadata, notes }),
    streams: await streamsOf(parts, options),
  };
}

/** The bash tool of the modes dialect, with its own limits and messages. It merges both streams. */
async function callModesTool(io: CliIo, plan: RunPlan, signal: AbortSignal): Promise<Ended> {
  const { command, mode, env, dryRun, timeoutMs } = plan;
  // The toolkit itself adds the policy file and the audit file to the trusted files, and writes the audit log.
  const { trustedFiles: _, events: __, ...options } = managerOptionsOf(plan);
  const { auditFile } = plan;
  await using kit = await createToolkit({
    ...options,
    workingDir: plan.workingDir,
    ...admissionOptionsOf({ ...plan, events: undefined }),
    ...(auditFile === undefined ? {} : { auditFile }),
    dialect: "modes",
    ...approverFor(io),
  });
  const call = { env, dryRun, signal, ...(timeoutMs ? { timeoutMs } : {}) };
  const result = await kit.call("bash", { command, ...(mode && { mode }) }, call);
  return { result: result as ToolResult, streams: { stdout: result.output, stderr: "" } };
}

export async function streamsOf(
  { stdout, stderr }: OutputParts,
  options: Admitted["options"],
): Promise<Streams> {
  const alone = async (part: OutputParts["stdout"]) =>
    (await render({ stdout: part, stderr: { ...part, from: part.to } }, options)).text;
  return { stdout: await alone(stdout), stderr: await alone(stderr) };
}

function exitCodeOf({ success, code, metadata }: ToolResult): number {
  if (success) return EXIT.ok;
  if (code === "timed_out") return EXIT.timedOut;
  const own = metadata["exit_code"];
  return typeof own === "number" ? own : failureExitCode(code);
}
