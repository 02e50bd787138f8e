// A session for a program that drives it by hand, with what the tools of a model have: the policy is asked, and a
// person where it wants one, before anything runs. Without that: ShellManager.session().

import type { Session } from "../session/session.ts";
import type { RunOptions, SessionResult, StartOptions } from "../session/session-options.ts";
import type { KillReport } from "../shell/kill-report.ts";
import { readWhole } from "../shell/output-text.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { type Admitted, admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { sessionTarget } from "./session-target.ts";
import { runAdmitted, startInSession } from "./start-command.ts";

/** How a command went, with what it printed as text. Where the bytes are is in `output`. */
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

  /** Runs a command when those before it have ended. Every ending is a value. If this throws, the command did not run. */
  async run(command: string, options: Omit<RunOptions, "onTurn"> = {}): Promise<SessionRun> {
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

  /** Starts a shell that runs on its own, with the session's directory, exports and functions of now. */
  async start(command: string, options: StartOptions = {}): Promise<ShellProcess> {
    const { env: _, workingDir: __, ...rest } = options;
    const admitted = await this.#admit(command, options, true);
    return await startInSession(admitted, { durable: this.#options.durable, ...rest });
  }

  /** As Ctrl-C to the command that runs. Tells whether there was one. */
  async interrupt(): Promise<boolean> {
    return await this.#session.interrupt();
  }

  /** Ends everything it has running and starts anew, where it was born and with nothing of its state. */
  async restart(): Promise<KillReport> {
    return await this.#session.restart();
  }

  /** Ends it with everything it ever started. */
  async close(): Promise<KillReport> {
    return await this.#session.close();
  }

  /** A call that names a directory works in it, and its rules are those of that directory. */
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
