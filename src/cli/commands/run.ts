// `nacre run`: plans one command and runs it in the foreground, in a session, in the background, or for a JSON result.
import { resolve } from "node:path";
import { dryRunLine } from "../../execution/admission.ts";
import { checkWorkingDir } from "../../support/start-checks.ts";
import { admitRun } from "../admit-run.ts";
import type { CliIo } from "../cli-io.ts";
import { confineOptionsOf, type SandboxFlags } from "../definitions/define-sandbox.ts";
import { EXIT } from "../exit-code.ts";
import { MODE_TIMEOUTS_MS, type Mode } from "../option.ts";
import { quoteArguments } from "../quote-arguments.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

type CopiedFlags = "isDefaultCwd" | "env" | "envMode" | "namesEnvMode" | "policy";
type OptionalFlags = "name" | "json" | "background" | "durable" | "stdin" | "dryRun" | "terminal" | "preview";

/** The options as commander parses them. */
export interface RunFlags
  extends SandboxFlags,
    Pick<RunPlan, CopiedFlags>,
    Partial<Pick<RunPlan, OptionalFlags>> {
  readonly args: readonly string[];
  /** Whether `args` is a program followed by its arguments, even if `args` has only one element. */
  readonly areArguments: boolean;
  readonly cwd: string;
  readonly session?: string;
  readonly policyFile?: string;
  readonly auditFile?: string;
  readonly timeout?: number;
  readonly mode?: Mode;
  readonly shellProfile?: "none" | "user";
  readonly rows?: number;
  readonly cols?: number;
  readonly maxPreviewSize?: number;
}

export async function executeRun(io: CliIo, options: RunFlags): Promise<number> {
  const { auditFile } = options;
  if (auditFile === undefined) return await executePlan(io, planOf(io, options));
  const { AuditLog } = await import("../../audit/audit-log.ts");
  const { EVENT_NAMES, Events } = await import("../../support/events.ts");
  const events = new Events();
  const audit = new AuditLog(auditFile);
  const removals = EVENT_NAMES.map((name) => events.on(name, (event) => audit.write(event)));
  try {
    return await executePlan(io, { ...planOf(io, options), auditFile, events });
  } finally {
    for (const remove of removals) remove();
    audit.close();
  }
}

async function executePlan(io: CliIo, plan: RunPlan): Promise<number> {
  const { json, background, session, dryRun, preview } = plan;
  if (preview && !dryRun) {
    const { runInPreview } = await import("./run-preview.ts");
    return await runInPreview(io, plan);
  }
  // With --mode, the bash tool starts background shells itself and has its own message for them.
  const isModesStart = plan.mode === "background" && session === undefined && !plan.terminal;
  if (json && (!background || dryRun || isModesStart)) {
    const { runForJson } = await import("./run-json.ts");
    return await runForJson(io, plan);
  }
  if (dryRun) return await printDryRun(io, plan);
  if (background) {
    const { runInBackground } = await import("./run-background.ts");
    return await runInBackground(io, plan);
  }
  if (session !== undefined) {
    const { runInNamedSession } = await import("./run-named-session.ts");
    return await runInNamedSession(io, plan, session);
  }
  const { runInForeground } = await import("./run-foreground.ts");
  return await runInForeground(io, plan);
}

/** Judges the command in the session's last saved state, without locking or saving the session. */
async function printDryRun(io: CliIo, plan: RunPlan): Promise<number> {
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
  const { args, areArguments, isDefaultCwd, env, envMode, namesEnvMode, policy, mode } = options;
  const [only = ""] = args;
  // One argument is a line of bash. Several arguments are a program and its arguments, which the caller's shell has
  // already split.
  const argv = areArguments || args.length > 1 ? args : undefined;
  return {
    command: argv ? quoteArguments(argv) : only.toWellFormed(),
    argv,
    workingDir: resolve(io.cwd, options.cwd),
    isDefaultCwd,
    session: options.session,
    name: options.name,
    env,
    envMode,
    namesEnvMode,
    policy,
    policyFile: options.policyFile,
    auditFile: undefined,
    events: undefined,
    shellProfile: options.shellProfile,
    timeoutMs: options.timeout ?? (mode && MODE_TIMEOUTS_MS[mode]),
    mode,
    json: options.json ?? false,
    background: options.background === true || mode === "background",
    durable: options.durable ?? false,
    terminal: options.terminal ?? false,
    rows: options.rows,
    cols: options.cols,
    stdin: options.stdin ?? false,
    dryRun: options.dryRun ?? false,
    preview: options.preview ?? false,
    maxPreviewBytes: options.maxPreviewSize,
    confine: confineOptionsOf(options),
  };
}
