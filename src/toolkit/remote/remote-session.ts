// A session at the remote end: a bash whose directory, variables and functions persist between commands.
import type { SessionRun, SessionRunOptions, SessionStartOptions } from "../../execution/judged-session.ts";
import type { PendingRun } from "../../execution/live-output.ts";
import type { RemotePeer } from "../../remote/client/remote-peer.ts";
import type { KillReport } from "../../shell/kill-report.ts";
import { checkOptions } from "../../support/option-checks.ts";
import { remoteRun } from "./remote-run.ts";
import type { RemoteShell, RemoteShellState } from "./remote-shell.ts";

export interface RemoteSessionDeps {
  readonly peer: RemotePeer;
  readonly id: string;
  readonly scope: string;
  /** The first directory of the session, at the remote end. */
  readonly cwd: string;
  /** The options of the session's calls. Each request sends them as parameters. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly shellOf: (state: RemoteShellState) => RemoteShell;
}

/** The result of a command in a remote session. */
export interface RemoteSessionRun extends Omit<SessionRun, "shell" | "leftoverShell"> {
  readonly shell?: RemoteShell;
  readonly leftoverShell?: RemoteShell;
}

export class RemoteSession {
  readonly #deps: RemoteSessionDeps;
  #cwd: string;
  #running = 0;

  /** @internal */
  constructor(deps: RemoteSessionDeps) {
    this.#deps = deps;
    this.#cwd = deps.cwd;
  }

  get id(): string {
    return this.#deps.id;
  }

  get scope(): string {
    return this.#deps.scope;
  }

  /** The directory of the next command, according to the last result. */
  get cwd(): string {
    return this.#cwd;
  }

  /** Whether a command that this object started is running. */
  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Runs a command after all earlier commands. Returns every ending as a value, even a timeout. */
  run(command: string, options: SessionRunOptions = {}): PendingRun<RemoteSessionRun> {
    const { peer, id: session, params } = this.#deps;
    const { signal, onOutput, onWait: _, onStart: __, ...rest } = options ?? {};
    this.#running += 1;
    const pending = remoteRun<SessionRun>(peer, {
      command,
      session,
      params,
      options: rest,
      signal,
      onOutput,
    });
    const finished = pending.then(
      (result) => this.#ran(result as SessionRun & StateShells),
      (error: unknown) => {
        this.#running -= 1;
        throw error;
      },
    );
    return Object.assign(finished, {
      [Symbol.asyncIterator]: () => {
        finished.catch(() => {});
        return pending[Symbol.asyncIterator]();
      },
    });
  }

  /** Starts a separate shell with the current directory, exports and functions of the session. */
  async start(command: string, { signal, ...options }: SessionStartOptions = {}): Promise<RemoteShell> {
    checkOptions("session.start", options);
    const { shell } = await this.#ask<{ shell: RemoteShellState }>("start", { command, options }, signal);
    return this.#deps.shellOf(shell);
  }

  /** Interrupts the running command, as Ctrl-C does. Returns whether a command was running. */
  async interrupt(): Promise<boolean> {
    return (await this.#ask<{ wasRunning: boolean }>("interrupt")).wasRunning;
  }

  /** Kills everything that is running in the session. */
  async restart(): Promise<KillReport> {
    return await this.#ask("restart");
  }

  /** Ends the session and everything it ever started. */
  async close(): Promise<KillReport> {
    return await this.#ask("close");
  }

  toJSON(): Readonly<Record<string, unknown>> {
    const { id, scope, cwd, isBusy } = this;
    return { id, scope, cwd, isBusy };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #ran({
    shell,
    leftoverShell,
    ...result
  }: Omit<SessionRun, "shell" | "leftoverShell"> & StateShells): RemoteSessionRun {
    this.#running -= 1;
    this.#cwd = result.cwd;
    const { shellOf } = this.#deps;
    return {
      ...result,
      ...(shell && { shell: shellOf(shell) }),
      ...(leftoverShell && { leftoverShell: shellOf(leftoverShell) }),
    };
  }

  async #ask<T>(
    action: string,
    more: Readonly<Record<string, unknown>> = {},
    signal?: AbortSignal,
  ): Promise<T> {
    const { peer, id: session, params } = this.#deps;
    return await peer.request<T>(`nacre/session.${action}`, { ...params, ...more, session }, { signal });
  }
}

interface StateShells {
  readonly shell?: RemoteShellState;
  readonly leftoverShell?: RemoteShellState;
}
