// `nacre run --session NAME`: with the directory, variables, functions and options that the command before it in
// this session left, whichever process ran that. One at a time; jobs end with the process that started them.
import { dirname } from "node:path";
import { sessionLeftovers } from "../../execution/leftovers.ts";
import { runAdmitted } from "../../execution/start-command.ts";
import type { RunOptions, SessionResult } from "../../session/session-options.ts";
import { followBytes } from "../../shell/follow-output.ts";
import { ShellManager } from "../../shell-manager.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT, signalExitCode } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { admitRun } from "../permission.ts";
import { printable } from "../printable.ts";
import { write } from "../write.ts";
import { inNamedSession } from "./named-session.ts";
import { tellNotEnforced } from "./not-enforced.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runInNamedSession(io: CliIo, plan: RunPlan, name: string): Promise<number> {
  await using manager = new ShellManager(managerOptionsOf(plan));
  return await inNamedSession(io, manager, { ...plan, name }, async (session) => {
    const admitted = await admitRun(io, plan, manager, session);
    using interruption = new Interruption((signal, count) => {
      if (signal === "SIGINT" && count === 1) void session.interrupt().catch(() => {});
      else void session.close({ by: signal, graceMs: 0 }).catch(() => {});
    });
    const live = passingThrough(io, () => session.close({ by: "the end of its reader", graceMs: 0 }));
    const result = await runAdmitted(admitted, {
      ...(plan.timeoutMs === undefined ? {} : { timeoutMs: plan.timeoutMs }),
      onStart: live.onStart,
    });
    if ((await live.end()) === "reader gone") return EXIT.brokenPipe;
    // It was ended because we were asked to; what only was interrupted has an exit code of its own.
    if (session.isClosed && interruption.exitCode !== undefined) {
      if (interruption.remark !== undefined) io.stderr.write(`nacre: ${interruption.remark}\n`);
      return interruption.exitCode;
    }
    tellNotEnforced(io, result.confinement);
    return told(io, result, plan);
  });
}

/** Shows output as it comes, until the command is known to be over, or until its reader has gone. */
function passingThrough(
  io: CliIo,
  endCommand: () => Promise<unknown>,
): {
  readonly onStart: NonNullable<RunOptions["onStart"]>;
  end(): Promise<"ended" | "reader gone">;
} {
  let over = false;
  let finish = () => {};
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let passing: Promise<"ended" | "reader gone"> | undefined;
  return {
    onStart: ({ stdout, stderr }) => {
      const files = { dir: dirname(stdout.path), stdout: stdout.path, stderr: stderr.path };
      const from = { stdout: stdout.from, stderr: stderr.from };
      passing = (async () => {
        for await (const { stream, bytes } of followBytes(files, { hasEnded: () => over, ended, from })) {
          if ((await write(io[stream], Buffer.from(bytes))) || stream === "stderr") continue;
          // One that has ended leaves its state to the next.
          if (!over) await endCommand().catch(() => {});
          return "reader gone";
        }
        return "ended";
      })();
    },
    end: async () => {
      over = true;
      finish();
      return (await passing) ?? "ended";
    },
  };
}

function told(io: CliIo, result: SessionResult, { timeoutMs }: RunPlan): number {
  const { outcome, exitCode, notes, leftovers } = result;
  for (const note of notes) io.stderr.write(`nacre: ${note}\n`);
  for (const { pid, command } of sessionLeftovers(leftovers)) {
    io.stderr.write(`nacre: left running, ends now: ${printable(command)} (pid ${pid})\n`);
  }
  if (outcome?.kind === "timedOut") {
    io.stderr.write(`nacre: Command timed out after ${timeoutMs}ms\n`);
    return EXIT.timedOut;
  }
  if (outcome?.kind === "signaled") return signalExitCode(outcome.signal as NodeJS.Signals);
  return exitCode ?? EXIT.failed;
}
