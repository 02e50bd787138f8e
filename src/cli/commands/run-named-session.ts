// `nacre run --session NAME`: runs a command with the directory, variables, functions and options that the session's
// previous command left, even if another nacre process ran it. One command runs at a time. Background jobs end with the
// nacre process that started them.
import { dirname } from "node:path";
import { failureText } from "../../execution/endings.ts";
import { describeProcess, sessionLeftovers } from "../../execution/leftovers.ts";
import { runAdmitted } from "../../execution/start-command.ts";
import type { RunOptions, SessionResult } from "../../session/session-options.ts";
import { followBytes } from "../../shell/follow-output.ts";
import { ShellManager } from "../../shell-manager.ts";
import { printable } from "../../support/printable.ts";
import { deferred } from "../../support/timing.ts";
import { admitRun } from "../admit-run.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT, signalExitCode } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { remark, warnNotEnforced } from "../print.ts";
import { write } from "../write.ts";
import { inNamedSession } from "./named-session.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runInNamedSession(io: CliIo, plan: RunPlan, name: string): Promise<number> {
  await using manager = new ShellManager(managerOptionsOf(plan));
  return await inNamedSession(io, manager, { ...plan, name }, async (session) => {
    const admitted = await admitRun(io, plan, manager, session);
    using interruption = new Interruption(io, (signal, count) => {
      if (signal === "SIGINT" && count === 1) void session.interrupt().catch(() => {});
      else void session.close({ by: signal, graceMs: 0 }).catch(() => {});
    });
    const live = outputCopier(io, () => session.close({ by: "a closed output pipe", graceMs: 0 }));
    const result = await runAdmitted(admitted, {
      ...(plan.timeoutMs === undefined ? {} : { timeoutMs: plan.timeoutMs }),
      onStart: live.onStart,
    });
    if ((await live.end()) === "reader gone") return EXIT.brokenPipe;
    // If a signal to nacre closed the session, exit with that signal's code. A command that was only interrupted keeps
    // its own exit code.
    if (session.isClosed && interruption.exitCode !== undefined) {
      if (interruption.remark !== undefined) remark(io, interruption.remark);
      return interruption.exitCode;
    }
    warnNotEnforced(io, result.confinement);
    return reportResult(io, result);
  });
}

/** Copies output to stdout and stderr while the command runs, until it ends or the reader closes the pipe. */
function outputCopier(
  io: CliIo,
  endCommand: () => Promise<unknown>,
): {
  readonly onStart: NonNullable<RunOptions["onStart"]>;
  end(): Promise<"ended" | "reader gone">;
} {
  let hasEnded = false;
  const ended = deferred();
  let copying: Promise<"ended" | "reader gone"> | undefined;
  return {
    onStart: ({ stdout, stderr }) => {
      const files = { dir: dirname(stdout.path), stdout: stdout.path, stderr: stderr.path };
      const from = { stdout: stdout.from, stderr: stderr.from };
      copying = (async () => {
        const end = { hasEnded: () => hasEnded, ended: ended.promise };
        for await (const { stream, bytes } of followBytes(files, { ...end, from })) {
          if ((await write(io[stream], Buffer.from(bytes))) || stream === "stderr") continue;
          // If the command has already ended, keep the session: its state is saved for the next command.
          if (!hasEnded) await endCommand().catch(() => {});
          return "reader gone";
        }
        return "ended";
      })();
    },
    end: async () => {
      hasEnded = true;
      ended.resolve();
      return (await copying) ?? "ended";
    },
  };
}

function reportResult(io: CliIo, result: SessionResult): number {
  const { outcome, exitCode, notes, leftovers } = result;
  for (const note of notes) remark(io, note);
  for (const left of sessionLeftovers(leftovers)) {
    remark(io, `ending a leftover process: ${printable(describeProcess(left))}`);
  }
  if (outcome?.kind === "timedOut") {
    remark(io, failureText(outcome));
    return EXIT.timedOut;
  }
  if (outcome?.kind === "signaled") return signalExitCode(outcome.signal as NodeJS.Signals);
  return exitCode ?? EXIT.failed;
}
