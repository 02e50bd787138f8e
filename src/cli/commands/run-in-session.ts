// `nacre run --session NAME`: with the directory, variables, functions and options that the command before it in
// this session left, whichever process ran that. One at a time; jobs end with the process that started them.
import { dirname } from "node:path";
import { isSameProcess, readStat } from "../../hosts/process-table.ts";
import { followBytes } from "../../shell/follow-output.ts";
import type { RunOptions, SavedSession, SessionResult } from "../../shell/session-options.ts";
import { ShellManager } from "../../shell/shell-manager.ts";
import { SessionFile } from "../../spool/session-file.ts";
import { SESSION_TURN_POLL_MS } from "../../support/limits.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT, signalExitCode } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { refusal } from "../permission.ts";
import { write } from "../write.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runInNamedSession(io: CliIo, plan: RunPlan, name: string): Promise<number> {
  await using manager = new ShellManager(managerOptionsOf(plan));
  const file = new SessionFile(manager.root.path, name);
  await takeTurn(io, file, name);
  try {
    const saved = savedIn(file);
    const workingDir = plan.isHere && saved ? saved.cwd : plan.workingDir;
    // The policy is asked about the place it will run in.
    const refused = await refusal(io, { ...plan, workingDir });
    if (refused !== undefined) return refused;
    const session = manager.session(name, { workingDir: plan.workingDir, ...(saved ? { saved } : {}) });
    using interruption = new Interruption((signal, count) => {
      if (signal === "SIGINT" && count === 1) void session.interrupt().catch(() => {});
      else void session.close({ by: signal, graceMs: 0 }).catch(() => {});
    });
    const live = passingThrough(io);
    const result = await session.run(plan.command, {
      env: plan.env,
      ...(plan.isHere ? {} : { workingDir: plan.workingDir }),
      ...(plan.timeoutMs === undefined ? {} : { timeoutMs: plan.timeoutMs }),
      onStart: live.onStart,
    });
    await live.end();
    const kept = await session.save();
    if (kept) file.write(kept);
    return interruption.exitCode ?? told(io, result, plan);
  } finally {
    file.release();
  }
}

/** Two at once run one after the other. */
async function takeTurn(io: CliIo, file: SessionFile, name: string): Promise<void> {
  const self = { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "" };
  for (let waited = false; ; waited = true) {
    const other = file.take(self, ({ pid, startTime }) => isSameProcess(pid, startTime));
    if (!other) return;
    if (!waited)
      io.stderr.write(`nacre: waiting for another command in session ${name} (pid ${other.pid})\n`);
    await new Promise((resolve) => setTimeout(resolve, SESSION_TURN_POLL_MS));
  }
}

function savedIn(file: SessionFile): SavedSession | undefined {
  const saved = file.read() as Partial<SavedSession> | undefined;
  const { cwd, nonce, state, prefix } = saved ?? {};
  if (typeof cwd !== "string" || typeof nonce !== "string" || typeof state !== "string") return undefined;
  return { cwd, nonce, state, prefix: prefix ?? "" };
}

/** Shows output as it comes, until the command is known to be over. */
function passingThrough(io: CliIo): {
  readonly onStart: NonNullable<RunOptions["onStart"]>;
  end(): Promise<void>;
} {
  let over = false;
  let finish = () => {};
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let passing: Promise<void> | undefined;
  return {
    onStart: ({ stdout, stderr }) => {
      const files = { dir: dirname(stdout.path), stdout: stdout.path, stderr: stderr.path };
      const from = { stdout: stdout.from, stderr: stderr.from };
      passing = (async () => {
        for await (const { stream, bytes } of followBytes(files, { hasEnded: () => over, ended, from })) {
          await write(io[stream], Buffer.from(bytes));
        }
      })();
    },
    end: async () => {
      over = true;
      finish();
      await passing;
    },
  };
}

function told(io: CliIo, { outcome, exitCode, notes }: SessionResult, { timeoutMs }: RunPlan): number {
  for (const note of notes) io.stderr.write(`nacre: ${note}\n`);
  if (outcome?.kind === "timedOut") {
    io.stderr.write(`nacre: Command timed out after ${timeoutMs}ms\n`);
    return EXIT.timedOut;
  }
  if (outcome?.kind === "signaled") return signalExitCode(outcome.signal as NodeJS.Signals);
  return exitCode ?? EXIT.failed;
}
