// A session for a program that runs commands itself. As with the tools of a model, the policy judges each command before
// it runs, and asks a person if necessary. ShellManager.session() is the same without policy.

import type { Session } from "../session/session.ts";
import type { RunOptions, SessionResult, StartOptions } from "../session/session-options.ts";
import type { KillReport } from "../shell/kill-report.ts";
import { readWhole } from "../shell/output-text.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { type Admitted, admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { runAdmitted, sessionTarget, startInSession } from "./start-command.ts";

/** The result of a command, with its output as text. `output` tells where the bytes are. */
export interface SessionRun extends Omit<SessionResult, "stdout" | "stderr"> {
  readonly stdout: string;
  readonly stderr: string;
  readonly output: Pick<SessionResult, "stdout" | "stderr">;
}

export class JudgedSession {
  readonly #context: ExecutionContext;
  readonly #options: ResolvedExecutionOptions;
  readonly #session: Session;

  constructor(context: ExecutionContext, options: ResolvedExecutionOptions) {
    this.#context = context;
    this.#options = options;
    this.#session = sessionTarget(context, options).open();
  }

  get id(): string {
    return this.#session.id;
  }

  get scope(): string {
    return this.#session.scope;
  }

  /** Where the next command runs. */
  get cwd(): string {
    return this.#session.cwd;
  }

  get isBusy(): boolean {
    return this.#session.isBusy;
  }

  /** Runs a command after the commands before it. Every ending is returned as a value. If this throws, the command did not run. */
  async run(command: string, options: RunOptions = {}): Promise<SessionRun> {
    const { env: _, workingDir: __, signal: ___, ...rest } = options;
    const admitted = await this.#admit(command, options, false);
    const result = await runAdmitted(admitted, rest);
    const { stdout, stderr } = result;
    return {
      ...result,
      stdout: readWhole(stdout.path, stdout.from, stdout.to),
      stderr: readWhole(stderr.path, stderr.from, stderr.to),
      output: { stdout, stderr },
    };
  }

  /** Starts a shell of its own with the current directory, exports and functions of the session. */
  async start(command: string, options: StartOptions = {}): Promise<ShellProcess> {
    const { env: _, workingDir: __, ...rest } = options;
    const admitted = await this.#admit(command, options, true);
    return await startInSession(admitted, { durable: this.#options.durable, ...rest });
  }

  /** Like Ctrl-C to the command that runs. Returns whether there was one. */
  async interrupt(): Promise<boolean> {
    return await this.#session.interrupt();
  }

  /** Kills everything it has running. Its next bash starts in its first directory, without any state. */
  async restart(): Promise<KillReport> {
    return await this.#session.restart();
  }

  /** Ends it with everything it ever started. */
  async close(): Promise<KillReport> {
    return await this.#session.close();
  }

  /** A call that names a directory runs there, with the rules of that directory. */
  async #admit(
    command: string,
    { env, workingDir, signal }: Pick<RunOptions, "env" | "workingDir" | "signal">,
    background: boolean,
  ): Promise<Admitted> {
    const context = {
      ...this.#context,
      ...(workingDir === undefined ? {} : { workingDir }),
      ...(env ? { env } : {}),
      ...(signal ? { signal } : {}),
    };
    const own = this.#session;
    const session = { id: own.id, named: workingDir, find: () => own, open: () => own };
    return await admit({ command, background, session }, context, this.#options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
