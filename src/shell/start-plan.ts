// Turns the options of a start into a plan for the engine. Throws an error for any invalid option.
import { uptime } from "node:os";
import { labelOf } from "../engine/meta.ts";
import { thisProcess } from "../engine/process-table.ts";
import type { StartPlan } from "../engine/taken-slot.ts";
import { buildEnvironment } from "../environment/environment.ts";
import { environmentTooLarge } from "../environment/environment-size.ts";
import { wallMs } from "../support/clock.ts";
import { DURABLE_DEADLINE_MS } from "../support/limits.ts";
import { checkSettable, checkStart } from "../support/start-checks.ts";
import { terminalSizeOf } from "../terminal/terminal-size.ts";
import type { Confiner } from "./confiner.ts";
import type { CreateShellOptions } from "./manager-options.ts";

export interface StartDefaults {
  readonly confiner: Confiner;
  readonly allowedRoots: readonly string[] | undefined;
  /** The base environment. Together with the variables of the start, it must fit the size limit. */
  readonly environment: Readonly<Record<string, string>>;
  readonly capBytes: number;
}

export async function planStart(
  options: CreateShellOptions & { readonly scope: string },
  { confiner, allowedRoots, environment, capBytes: usualCapBytes }: StartDefaults,
): Promise<Omit<StartPlan, "onExit">> {
  const { command, workingDir, scope, streams = "split", capBytes = usualCapBytes } = options;
  checkStart({ command, workingDir, timeoutMs: options.timeoutMs }, allowedRoots);
  const variables = checkedVariables(options.env ?? {}, environment);
  const terminal = options.terminal ? terminalSizeOf(options) : undefined;
  const confined = await confiner.forScript({ ...options, workspace: options.workspace, terminal });
  return {
    command,
    workingDir,
    variables,
    stdin: options.stdin,
    isTerminal: terminal !== undefined,
    capBytes,
    streams,
    trailer: options.trailer ?? false,
    startScript: confined.startScript,
    meta: (id) => ({
      version: 1,
      id,
      workingDir,
      scope,
      session: options.session ?? null,
      ...labelOf(options),
      createdAt: wallMs(),
      startedUptimeMs: Math.round(uptime() * 1000),
      deadlineMs: deadlineOf(options) ?? null,
      durable: options.durable ?? false,
      host: thisProcess(),
      streams,
      capBytes,
      ...confined.meta(),
      ...(terminal ? { terminal } : {}),
    }),
  };
}

/** Milliseconds after the start. A durable shell always has a deadline, because its host may be gone. */
export function deadlineOf({ timeoutMs, durable }: CreateShellOptions): number | undefined {
  return timeoutMs ?? (durable ? DURABLE_DEADLINE_MS : undefined);
}

function checkedVariables(
  set: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  checkSettable(set);
  const { env } = buildEnvironment({ inherited: {}, mode: "none", exclude: ["*"], set });
  const tooLarge = environmentTooLarge({ ...environment, ...env });
  if (tooLarge) throw tooLarge;
  return env;
}
