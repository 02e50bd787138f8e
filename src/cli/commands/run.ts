// `nacre run`: one command, in one of three forms: streamed through, as a JSON result, or in the background.
import { resolve } from "node:path";
import {
  MODE_BACKGROUND_TIMEOUT_MS,
  MODE_DEFAULT_TIMEOUT_MS,
  MODE_SLOW_TIMEOUT_MS,
} from "../../support/limits.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { EnvMode, Mode, Policy } from "../option.ts";
import { refusal } from "../permission.ts";
import { quoteWords } from "../quote.ts";
import { confineOptionsOf, type SandboxWords } from "../sandbox-words.ts";
import type { RunPlan } from "./run-plan.ts";

export interface RunOptions extends SandboxWords {
  readonly words: readonly string[];
  /** Whether the words are arguments, each one of its own, even if there is only one. */
  readonly areArguments: boolean;
  readonly cwd: string;
  readonly isHere: boolean;
  readonly session?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly envMode: EnvMode;
  readonly policy: Policy;
  readonly policyFile?: string;
  readonly timeout?: number;
  readonly mode?: Mode;
  readonly json?: boolean;
  readonly background?: boolean;
  readonly durable?: boolean;
  readonly stdin?: boolean;
  readonly dryRun?: boolean;
}

export async function runCommand(io: CliIo, options: RunOptions): Promise<number> {
  const plan = planOf(io, options);
  const background = options.background === true || plan.mode === "background";
  // The tool behind it asks for itself, and puts a refusal into its result.
  if (plan.json && (!background || plan.dryRun || plan.mode !== undefined)) {
    const { runForJson } = await import("./run-json.ts");
    return await runForJson(io, plan);
  }
  if (options.session !== undefined && !plan.dryRun) {
    const { runInNamedSession } = await import("./run-in-session.ts");
    return await runInNamedSession(io, plan, options.session);
  }
  const refused = await refusal(io, plan);
  if (refused !== undefined) return refused;
  if (plan.dryRun) {
    io.stdout.write(`[Dry Run] Would execute: ${plan.command}\n`);
    return EXIT.ok;
  }
  if (background) {
    const { runInBackground } = await import("./run-background.ts");
    return await runInBackground(io, plan);
  }
  const { runThrough } = await import("./run-through.ts");
  return await runThrough(io, plan);
}

function planOf(io: CliIo, options: RunOptions): RunPlan {
  const { words, areArguments, env, envMode, policy, policyFile, mode } = options;
  const [only = ""] = words;
  // One word is a line of bash. Several were separated by the caller's shell already: they stay what they are.
  const argv = areArguments || words.length > 1 ? words : undefined;
  return {
    command: argv ? quoteWords(argv) : only,
    argv,
    workingDir: resolve(io.cwd, options.cwd),
    isHere: options.isHere,
    env,
    envMode,
    policy,
    policyFile,
    timeoutMs: options.timeout ?? (mode && MODE_TIMEOUTS_MS[mode]),
    mode,
    json: options.json ?? false,
    durable: options.durable ?? false,
    stdin: options.stdin ?? false,
    dryRun: options.dryRun ?? false,
    confine: confineOptionsOf(options),
  };
}

const MODE_TIMEOUTS_MS: Readonly<Record<Mode, number>> = {
  default: MODE_DEFAULT_TIMEOUT_MS,
  slow: MODE_SLOW_TIMEOUT_MS,
  background: MODE_BACKGROUND_TIMEOUT_MS,
};
