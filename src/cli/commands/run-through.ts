// The plain `nacre run`: the command's streams and exit code pass through as they come; remarks go to stderr.
import { ShellManager } from "../../shell/shell-manager.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { RunPlan } from "./run-plan.ts";

export async function runThrough(io: CliIo, plan: RunPlan): Promise<number> {
  const { command, workingDir, env, timeoutMs } = plan;
  await using manager = new ShellManager({ poolSize: 0 });
  const shell = await manager.createShell({
    command,
    workingDir,
    env,
    background: false,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  if (!(await passThrough(io, shell))) return EXIT.brokenPipe;
  for (const remark of shell.remarks) io.stderr.write(`nacre: ${remark}\n`);
  for (const { pid, command: left } of await shell.leftovers()) {
    io.stderr.write(`nacre: left running, ends now: ${left} (pid ${pid})\n`);
  }
  if (shell.outcome?.kind === "timedOut") {
    io.stderr.write(`nacre: Command timed out after ${timeoutMs}ms\n`);
    return EXIT.timedOut;
  }
  return shell.exitCode ?? EXIT.failed;
}

/** False if there is nobody left to write to. */
async function passThrough(io: CliIo, shell: ShellProcess): Promise<boolean> {
  let gone = false;
  const onError = () => {
    gone = true;
  };
  io.stdout.on("error", onError);
  try {
    for await (const { stream, text } of shell.output()) {
      if (gone) return false;
      io[stream].write(text);
    }
    return true;
  } finally {
    io.stdout.off("error", onError);
  }
}
