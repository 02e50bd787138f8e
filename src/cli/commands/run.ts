// `nacre run`: one command, in one of three forms: streamed through, as a JSON result, or in the background.
import { resolve } from "node:path";
import type { CliIo } from "../cli-io.ts";
import type { Policy } from "../option.ts";
import { refusal } from "../permission.ts";
import { runInBackground } from "./run-background.ts";
import { runForJson } from "./run-json.ts";
import type { RunPlan } from "./run-plan.ts";
import { runThrough } from "./run-through.ts";

export interface RunOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly policy: Policy;
  readonly policyFile?: string;
  readonly timeout?: number;
  readonly json?: boolean;
  readonly background?: boolean;
}

export async function runCommand(io: CliIo, options: RunOptions): Promise<number> {
  const { command, env, policy, policyFile, timeout, json = false, background = false } = options;
  const workingDir = resolve(io.cwd, options.cwd);
  const plan: RunPlan = { command, workingDir, env, policy, policyFile, timeoutMs: timeout, json };
  // The tool behind it asks for itself, and puts a refusal into its result.
  if (json && !background) return await runForJson(io, plan);
  const refused = await refusal(io, plan);
  if (refused !== undefined) return refused;
  return background ? await runInBackground(io, plan) : await runThrough(io, plan);
}
