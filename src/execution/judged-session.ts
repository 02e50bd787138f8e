// A session for a program that runs commands itself. The policy judges each command before it runs, and nacre asks a
// person if necessary, as with the tools of a model. ShellManager.session() returns a session without the policy.

import { resolve } from "node:path";
import type { Session } from "../session/session.ts";
import type { RunOptions, SessionResult, StartOptions } from "../session/session-options.ts";
import type { KillReport } from "../shell/kill-report.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { asAborted, throwIfAborted } from "../support/abort.ts";
import { defined } from "../support/defined.ts";
import { checkOptions } from "../support/option-checks.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { type Admitted, admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { sessionLeftovers } from "./leftovers.ts";
import { type LiveOutput, type OutputListener, type PendingRun, pendingRun } from "./live-output.ts";
import { missingVariables } from "./notes.ts";
import { timeoutOf } from "./run-alone.ts";
import { type RunResult, runResult } from "./run-result.ts";
import { runAdmitted, sessionTarget, startInSession } from "./start-command.ts";

export interface SessionRunOptions extends RunOptions {
  /** The directory to run in, relative to the session's directory. The session stays in it afterwards. */
  readonly cwd?: string;
  readonly onOutput?: OutputListener;
  /** Leaves the texts of the result empty, for a caller that reads the files itself. @internal */
  readonly omitText?: boolean;
}

export interface SessionStartOptions
  extends Omit<StartOptions, "previewDir" | "background">,
    Pick<RunOptions, "signal"> {
  /** The directory to start in, relative to the session's directory. The session's own directory does not change. */
  readonly cwd?: string;
}

/** The result of a command in a session. */
export interface SessionRun
  extends RunResult,
    Pick<SessionResult, "cwd" | "cwdChanged" | "restarted" | "shell" | "leftoverShell" | "confinement"> {}

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

  /** The directory in which the next command runs. */
  get cwd(): string {
    return this.#session.cwd;
  }

  get isBusy(): boolean {
    return this.#session.isBusy;
  }

  /**
   * Runs a command after all earlier commands. Returns every ending as a value, even a timeout (by default after 120
   * s). If this throws, the command did not run.
   */
  run(command: string, options: SessionRunOptions = {}): PendingRun<SessionRun> {
    const start = async (live: LiveOutput) => {
      checkOptions("session.run", options);
      const { onTimeout, backgroundAfterMs, onWait } = options;
      const admitted = await this.#admit(command, options, false);
      const result = await runAdmitted(admitted, {
        ...defined({ onTimeout, backgroundAfterMs, onWait }),
        ...timeoutOf(options, this.#options),
        onStart: (positions) => {
          live.begin(positions);
          options.onStart?.(positions);
        },
      });
      const notes = [...result.notes, ...missingVariables(result, this.#options)];
      return { result: sessionRun({ ...result, notes }, options.omitText), ends: result };
    };
    return pendingRun(options?.onOutput, start, options?.signal);
  }

  /** Starts a separate shell with the current directory, exports and functions of the session. */
  async start(command: string, options: SessionStartOptions = {}): Promise<ShellProcess> {
    checkOptions("session.start", options);
    const { durable = this.#options.durable, timeoutMs, name, terminal, rows, cols } = options;
    try {
      throwIfAborted(options.signal);
      const admitted = await this.#admit(command, options, true, terminal);
      return await startInSession(admitted, {
        durable,
        ...defined({ name, terminal, rows, cols }),
        ...(timeoutMs === undefined || timeoutMs === Number.POSITIVE_INFINITY ? {} : { timeoutMs }),
      });
    } catch (error) {
      throw asAborted(error, options.signal);
    }
  }

  /** Interrupts the running command, as Ctrl-C does. Returns whether a command was running. */
  async interrupt(): Promise<boolean> {
    return await this.#session.interrupt();
  }

  /**
   * Kills everything that runs in the session. The next bash starts in the session's original directory, without any
   * state.
   */
  async restart(): Promise<KillReport> {
    return await this.#session.restart();
  }

  /** Ends the session and everything that it has started. */
  async close(): Promise<KillReport> {
    return await this.#session.close();
  }

  /** A command that names its own directory runs in that directory, under the rules of that directory. */
  async #admit(
    command: string,
    { env, cwd, signal, ...options }: Pick<SessionRunOptions, "env" | "cwd" | "workingDir" | "signal">,
    background: boolean,
    terminal = false,
  ): Promise<Admitted> {
    const workingDir = cwd === undefined ? options.workingDir : resolve(this.cwd, cwd);
    // An earlier call may have named the same directory, and a command may have changed to another one since. Forget
    // the name, so that the session changes to the named directory again.
    if (cwd !== undefined) this.#session.forgetNamedDirectory();
    const context = {
      ...this.#context,
      ...(workingDir === undefined ? {} : { workingDir }),
      ...(env ? { env } : {}),
      ...(signal ? { signal } : {}),
    };
    const own = this.#session;
    const session = { id: own.id, named: workingDir, find: () => own, open: () => own };
    return await admit({ command, background, session, terminal }, context, this.#options);
  }

  toJSON(): Readonly<Record<string, unknown>> {
    const { id, scope, cwd, isBusy } = this;
    return { id, scope, cwd, isBusy };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function sessionRun(result: SessionResult, omitText = false): SessionRun {
  const { command, exitCode, durationMs, outcome, notes, stdout, stderr } = result;
  const { cwd, cwdChanged, restarted, shell, leftoverShell, confinement } = result;
  const leftovers = sessionLeftovers(result.leftovers);
  return {
    ...runResult(
      { command, exitCode, durationMs, outcome, notes, leftovers, parts: { stdout, stderr } },
      { omitText },
    ),
    ...{ cwd, cwdChanged, restarted, confinement },
    ...(shell && { shell }),
    ...(leftoverShell && { leftoverShell }),
  };
}
