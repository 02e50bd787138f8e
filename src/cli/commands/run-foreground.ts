// The plain `nacre run`: passes the command's output and exit code through; remarks go to stderr. Ctrl-C interrupts the
// command and everything it started, and kills what is left after the grace period. A second Ctrl-C, or any other
// signal, kills at once.
import { failureText } from "../../execution/endings.ts";
import { describeProcess, leftoversOf } from "../../execution/leftovers.ts";
import { ownScriptText } from "../../execution/own-script.ts";
import { startAlone } from "../../execution/start-command.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { ShellManager } from "../../shell-manager.ts";
import { printable } from "../../support/printable.ts";
import { admitRun } from "../admit-run.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { remark, warnNotEnforced } from "../print.ts";
import { write } from "../write.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runInForeground(io: CliIo, plan: RunPlan): Promise<number> {
  const { timeoutMs, durable, stdin } = plan;
  await using manager = new ShellManager(managerOptionsOf(plan));
  const shell = await startAlone(await admitRun(io, plan, manager), {
    background: false,
    durable,
    ...(stdin ? { stdin: io.stdin } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  warnNotEnforced(io, shell.confinement);
  const detach = new AbortController();
  let interrupted: Promise<void> | undefined;
  using interruption = new Interruption(io, (signal, count) => {
    if (signal === "SIGINT" && count === 1) interrupted = shell.interrupt({ by: "Ctrl-C" }).catch(() => {});
    // A durable command keeps running when the terminal closes or this program ends.
    else if (durable && signal !== "SIGINT") detach.abort();
    else
      void shell.kill({ by: signal === "SIGINT" ? "a second Ctrl-C" : signal, graceMs: 0 }).catch(() => {});
  });
  try {
    const ended = await copyOutput(io, shell, detach.signal);
    if (ended === "detached")
      return exitWith(io, `${shell.id} keeps running without this program`, interruption.exitCode);
    if (ended === "reader gone") return EXIT.brokenPipe;
    await interrupted;
    return await reportEnding(io, shell, plan, interruption);
  } finally {
    // An open stdin would keep the process alive.
    if (stdin) io.stdin.destroy();
  }
}

/** Copies output as fast as the reader reads; unread output stays on disk. */
export async function copyOutput(
  io: CliIo,
  shell: ShellProcess,
  detach: AbortSignal,
): Promise<"ended" | "reader gone" | "detached"> {
  for await (const { stream, bytes } of shell.outputBytes({ signal: detach })) {
    if (!(await write(io[stream], ownBytes(bytes, shell))) && stream === "stdout") return "reader gone";
  }
  return detach.aborted ? "detached" : "ended";
}

/** Copies the bytes: the next read reuses their buffer, and the stream may not have written the bytes by then. */
function ownBytes(bytes: Buffer, shell: ShellProcess): Buffer {
  if (!bytes.includes(shell.started.files.command)) return Buffer.from(bytes);
  // latin1 converts every byte to a character and back without loss.
  return Buffer.from(ownScriptText(bytes.toString("latin1"), shell), "latin1");
}

async function reportEnding(
  io: CliIo,
  shell: ShellProcess,
  { argv }: RunPlan,
  interruption: Interruption,
): Promise<number> {
  for (const text of shell.remarks) remark(io, text);
  const { outcome } = shell;
  switch (outcome?.kind) {
    case "timedOut":
      return exitWith(io, failureText(outcome), EXIT.timedOut);
    case "lost":
    case "failedToStart":
      return exitWith(io, failureText(outcome), EXIT.failed);
    case "killed":
      // A signal to nacre killed the command.
      if (interruption.exitCode !== undefined) {
        if (interruption.remark !== undefined) remark(io, interruption.remark);
        return interruption.exitCode;
      }
      return exitWith(io, failureText(outcome), outcome.code);
  }
  // Do not list leftovers of a killed command, because its processes may still be about to end.
  for (const left of await leftoversOf(shell)) {
    remark(io, `ending a leftover process: ${printable(describeProcess(left))}`);
  }
  const [program = ""] = argv ?? [];
  if (shell.exitCode === 127 && argv?.length === 1 && /\s/.test(program)) {
    remark(io, "-- must be followed by a program and its arguments; for a line of bash, remove the --");
  }
  return shell.exitCode ?? EXIT.failed;
}

function exitWith(io: CliIo, text: string, exitCode: number = EXIT.ok): number {
  remark(io, text);
  return exitCode;
}
