// `nacre run -b`: starts a shell that outlives this program, and prints its id.
import { sandboxOf } from "../../execution/confinement-notes.ts";
import { startAlone, startInSession } from "../../execution/start-command.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { ShellManager } from "../../shell-manager.ts";
import { defined } from "../../support/defined.ts";
import { NacreError } from "../../support/errors.ts";
import { STARTED_COMMAND_MAX_CHARS } from "../../support/limits.ts";
import { ToolResult } from "../../tool/result.ts";
import { admitRun } from "../admit-run.ts";
import type { CliIo } from "../cli-io.ts";
import { oneLine } from "../columns.ts";
import { EXIT } from "../exit-code.ts";
import { shellNamed } from "../find-shell.ts";
import { printJson, remark, warnNotEnforced } from "../print.ts";
import { namedSessionAsLeft } from "./named-session.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runInBackground(io: CliIo, plan: RunPlan): Promise<number> {
  const { command, json } = plan;
  await using manager = new ShellManager(managerOptionsOf(plan));
  const shell = await start(io, manager, plan);
  const message = [
    `Started background shell: ${shell.id}`,
    `Command: ${json ? command : oneLine(command, STARTED_COMMAND_MAX_CHARS)}`,
    ...(plan.terminal
      ? [`Use it with \`nacre attach ${plan.name ?? shell.id}\`, type with \`nacre send\`.`]
      : []),
    `Read it with \`nacre output ${plan.name ?? shell.id}\`, end it with \`nacre kill ${plan.name ?? shell.id}\`.`,
  ].join("\n");
  if (json) {
    const { containment } = manager;
    const metadata = { command, bash_id: shell.id, containment, sandbox: sandboxOf(shell.confinement) };
    const result = ToolResult.ok(message, metadata, { notes: shell.startRemarks });
    printJson(io, result.toWire());
  } else {
    io.stdout.write(`${shell.id}\n`);
    io.stderr.write(`${message}\n`);
    for (const text of shell.startRemarks) remark(io, text);
    warnNotEnforced(io, shell.confinement);
  }
  return EXIT.ok;
}

/** Starts from the current directory, or from a session with its directory, exports and functions. */
async function start(io: CliIo, manager: ShellManager, plan: RunPlan): Promise<ShellProcess> {
  const { timeoutMs, session: sessionName, name } = plan;
  const other = name === undefined ? undefined : shellNamed(manager, name);
  if (other?.isRunning) {
    throw new NacreError(
      "conflict",
      `A shell named ${name} is running: ${other.id}. End it with \`nacre kill ${name}\`, or use another name.`,
    );
  }
  const options = {
    durable: true,
    ...defined({ timeoutMs, name }),
    ...(plan.terminal ? { terminal: true, ...defined({ rows: plan.rows, cols: plan.cols }) } : {}),
  };
  if (sessionName === undefined) return await startAlone(await admitRun(io, plan, manager), options);
  const session = namedSessionAsLeft(manager, { ...plan, name: sessionName });
  return await startInSession(await admitRun(io, plan, manager, session), options);
}
