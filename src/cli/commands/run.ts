// `nacre run`: one command, in one of three forms: streamed through, as a JSON result, or in the background.
import { resolve } from "node:path";
import { dryRunLine } from "../../execution/admission.ts";
import {
  MODE_BACKGROUND_TIMEOUT_MS,
  MODE_DEFAULT_TIMEOUT_MS,
  MODE_SLOW_TIMEOUT_MS,
} from "../../support/limits.ts";
import { checkWorkingDir } from "../../support/start-checks.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { EnvMode, Mode, Policy } from "../option.ts";
import { admitRun } from "../permission.ts";
import { quoteWords } from "../quote.ts";
import { confineOptionsOf, type SandboxWords } from "../sandbox-words.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export interface RunFlags extends SandboxWords {
  readonly words: readonly string[];
  /** Whether the words are arguments, each one of its own, even if there is only one. */
  readonly areArguments: boolean;
  readonly cwd: string;
  readonly isHere: boolean;
  readonly session?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly envMode: EnvMode;
  readonly namesEnvMode: boolean;
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

export async function executeRun(io: CliIo, options: RunFlags): Promise<number> {
  const plan = planOf(io, options);
  const { json, background, session, dryRun } = plan;
  // The tool of the modes starts its background itself, and tells of it in its own words.
  if (json && (!background || dryRun || (plan.mode === "background" && session === undefined))) {
    const { runForJson } = await import("./run-json.ts");
    return await runForJson(io, plan);
  }
  if (dryRun) return await sayWhatWouldRun(io, plan);
  if (background) {
    const { runInBackground } = await import("./run-background.ts");
    return await runInBackground(io, plan);
  }
  if (session !== undefined) {
    const { runInNamedSession } = await import("./run-named-session.ts");
    return await runInNamedSession(io, plan, session);
  }
  const { runThrough } = await import("./run-through.ts");
  return await runThrough(io, plan);
}

/** A session is taken as its last command left it; nothing waits for its turn, and nothing is kept. */
async function sayWhatWouldRun(io: CliIo, plan: RunPlan): Promise<number> {
  const { session: name, workingDir } = plan;
  checkWorkingDir(workingDir, undefined);
  const { ShellManager } = await import("../../shell-manager.ts");
  const { namedSessionAsLeft } = await import("./named-session.ts");
  await using manager = new ShellManager(managerOptionsOf(plan));
  const session = name === undefined ? undefined : namedSessionAsLeft(manager, { ...plan, name });
  io.stdout.write(`${dryRunLine(await admitRun(io, plan, manager, session))}\n`);
  return EXIT.ok;
}

function planOf(io: CliIo, options: RunFlags): RunPlan {
  const { words, areArguments, env, envMode, policy, policyFile, mode } = options;
  const [only = ""] = words;
  // One word is a line of bash. Several were separated by the caller's shell already: they stay what they are.
  const argv = areArguments || words.length > 1 ? words : undefined;
  return {
    command: argv ? quoteWords(argv) : only.toWellFormed(),
    argv,
    workingDir: resolve(io.cwd, options.cwd),
    isHere: options.isHere,
    session: options.session,
    env,
    envMode,
    namesEnvMode: options.namesEnvMode,
    policy,
    policyFile,
    timeoutMs: options.timeout ?? (mode && MODE_TIMEOUTS_MS[mode]),
    mode,
    json: options.json ?? false,
    background: options.background === true || mode === "background",
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
