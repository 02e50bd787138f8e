// The plain `nacre run`: the command's streams and exit code pass through as they come; remarks go to stderr.
// Ctrl-C interrupts the command with everything it started and kills what is left after the grace period; a second
// Ctrl-C, or any other signal, kills it at once.
import { leftoversOf } from "../../execution/leftovers.ts";
import { startAlone } from "../../execution/start-command.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { ShellManager } from "../../shell-manager.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { admitRun } from "../permission.ts";
import { printable } from "../printable.ts";
import { write } from "../write.ts";
import { tellNotEnforced } from "./not-enforced.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runThrough(io: CliIo, plan: RunPlan): Promise<number> {
  const { timeoutMs, durable, stdin } = plan;
  await using manager = new ShellManager(managerOptionsOf(plan));
  const shell = await startAlone(await admitRun(io, plan, manager), {
    background: false,
    durable,
    ...(stdin ? { stdin: io.stdin } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  tellNotEnforced(io, shell.confinement);
  const left = new AbortController();
  let interrupted: Promise<void> | undefined;
  using interruption = new Interruption((signal, count) => {
    if (signal === "SIGINT" && count === 1) interrupted = shell.interrupt({ by: "Ctrl-C" }).catch(() => {});
    // A closed terminal, or the end of this program, leaves a durable command alone.
    else if (durable && signal !== "SIGINT") left.abort();
    else
      void shell.kill({ by: signal === "SIGINT" ? "a second Ctrl-C" : signal, graceMs: 0 }).catch(() => {});
  });
  try {
    const ended = await passThrough(io, shell, left.signal);
    if (ended === "left") return told(io, `${shell.id} goes on without this program`, interruption.exitCode);
    if (ended === "reader gone") return EXIT.brokenPipe;
    await interrupted;
    return await ending(io, shell, plan, interruption);
  } finally {
    // An open stdin would keep the process alive.
    if (stdin) io.stdin.destroy();
  }
}

/** As fast as the reader reads: what it has not read yet is on disk, not in memory. */
async function passThrough(
  io: CliIo,
  shell: ShellProcess,
  left: AbortSignal,
): Promise<"ended" | "reader gone" | "left"> {
  for await (const { stream, bytes } of shell.outputBytes({ signal: left })) {
    // A copy: the bytes are overwritten by the next read, and a stream may keep them for longer.
    if (!(await write(io[stream], Buffer.from(bytes))) && stream === "stdout") return "reader gone";
  }
  return left.aborted ? "left" : "ended";
}

async function ending(
  io: CliIo,
  shell: ShellProcess,
  { argv, timeoutMs }: RunPlan,
  interruption: Interruption,
): Promise<number> {
  for (const remark of shell.remarks) told(io, remark);
  const { outcome } = shell;
  switch (outcome?.kind) {
    case "timedOut":
      return told(io, `Command timed out after ${timeoutMs}ms`, EXIT.timedOut);
    case "lost":
    case "failedToStart":
      return told(io, `The command is ${shell.status}: ${outcome.reason}`, EXIT.failed);
    case "killed":
      // By our own hand, because we were asked to.
      if (interruption.exitCode !== undefined) {
        if (interruption.remark !== undefined) told(io, interruption.remark);
        return interruption.exitCode;
      }
      return told(io, `The command was killed by ${outcome.by}`, outcome.code);
  }
  // Only now: of a command that was ended, something may just be about to end.
  for (const { pid, command } of await leftoversOf(shell)) {
    told(io, `left running, ends now: ${printable(command)} (pid ${pid})`);
  }
  const [word = ""] = argv ?? [];
  if (shell.exitCode === 127 && argv?.length === 1 && /\s/.test(word)) {
    told(io, "after -- every word is one argument; a whole line of bash goes without the --");
  }
  return shell.exitCode ?? EXIT.failed;
}

function told(io: CliIo, words: string, exitCode: number = EXIT.ok): number {
  io.stderr.write(`nacre: ${words}\n`);
  return exitCode;
}
