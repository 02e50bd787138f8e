// A session for whoever drives it by hand, with what the tools of a model have: the policy is asked, and a
// person where it wants one, before anything runs. Without that: ShellManager.session().
import type { KillReport } from "../shell/kill.ts";
import { readWhole } from "../shell/output-text.ts";
import type { Session } from "../shell/session.ts";
import type { RunOptions, SessionResult, StartOptions } from "../shell/session-options.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { admit } from "./admit.ts";
import { takePlace } from "./foreground.ts";
import { sessionOf } from "./in-session.ts";
import type { ResolvedExecutionOptions } from "./options.ts";

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
    this.#session = sessionOf(context, options);
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

  /** Runs a command when those before it have ended. However it ends is a value; what is thrown, was not run. */
  async run(command: string, options: Omit<RunOptions, "onTurn"> = {}): Promise<SessionRun> {
    const { signal } = options;
    const context = { ...this.#context, ...(signal ? { signal } : {}) };
    const before = this.#session.directoryFor(options.workingDir);
    await admit(command, context, this.#options, before);
    const result = await this.#session.run(command, {
      ...options,
      onTurn: async (cwd) => {
        if (cwd !== before) await admit(command, context, this.#options, cwd);
        return await takePlace(context);
      },
    });
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
    const { durable } = this.#options;
    await admit(command, this.#context, this.#options, this.#session.directoryFor(options.workingDir));
    return await this.#session.start(command, { durable, ...options });
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
