// A session: looks like one bash that never ends. Commands run in it one at a time, at top level, with the
// state of those before. Which bash that is, and how one follows another, is in session-succession.ts.
import { accessSync, constants } from "node:fs";
import { holdEventLoop } from "../engine/event-loop-hold.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { buildEnvironment } from "../environment/environment.ts";
import type { SessionFacts } from "../policy/shell-model/session-facts.ts";
import { checkCommand, checkSettable, checkTimeout } from "../shell/check-start.ts";
import type { KillReport } from "../shell/kill-report.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { checkWorkingDir } from "../shell/working-dir.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { uninheritedBy } from "./inheritance-check.ts";
import { runInSession } from "./run-in-session.ts";
import type { SessionCommand } from "./session-command.ts";
import { nearestDirectory } from "./session-directory.ts";
import { tellingOf } from "./session-events.ts";
import { LOGIN_PROFILE } from "./session-harness.ts";
import { asBashEnv, Inheritances } from "./session-inheritance.ts";
import { staleStartNotes, uninheritedNotes } from "./session-notes.ts";
import type {
  RunOptions,
  SavedSession,
  SessionHouse,
  SessionOptions,
  SessionResult,
  StartOptions,
} from "./session-options.ts";
import { SessionQueue } from "./session-queue.ts";
import { INHERITED_NUMBER, inheritanceScript } from "./session-restore.ts";
import { stateFile } from "./session-state.ts";
import { Succession } from "./session-succession.ts";

export class Session {
  readonly id: string;
  readonly scope: string;
  readonly createdAt = wallMs();
  /** On the monotonic clock. */
  usedMs = monotonicMs();
  readonly #house: SessionHouse;
  readonly #succession: Succession;
  readonly #queue = new SessionQueue();
  readonly #onUse: (session: Session) => Promise<void>;
  readonly #onClose: (session: Session) => void;
  #running: SessionCommand | undefined;
  /** What the call that has its turn comes to. */
  #result: Promise<unknown> | undefined;
  /** The directory named last, by whoever created the session or by a call. */
  #named: string | undefined;
  #closed = false;
  readonly #inheritances = new Inheritances();

  constructor(
    options: SessionOptions & {
      readonly id: string;
      readonly house: SessionHouse;
      /** Before it needs a bash. */
      readonly onUse: (session: Session) => Promise<void>;
      readonly onClose: (session: Session) => void;
    },
  ) {
    const { id, house } = options;
    checkWorkingDir(options.workingDir, house.allowedRoots);
    checkProfile(options.profile);
    this.id = id;
    this.scope = options.scope ?? "default";
    this.#house = house;
    this.#onUse = options.onUse;
    this.#onClose = options.onClose;
    // One that goes on elsewhere was told of no directory here yet.
    this.#named = options.named ?? (options.saved ? undefined : options.workingDir);
    this.#succession = new Succession(house, id, { ...options, scope: this.scope });
  }

  /** Where the next command runs. */
  get cwd(): string {
    return this.#succession.cwd;
  }

  /** The state that changes what its next command means; null before the first command. */
  get meaning(): SessionFacts | null {
    return this.#succession.meaning?.facts ?? null;
  }

  get isBusy(): boolean {
    return this.#queue.isBusy;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether a bash waits, or will in a moment. A session that rests has none. */
  get hasBash(): boolean {
    return this.#succession.hasBash;
  }

  /** Runs a command when those before it have ended. Its endings are values; what is thrown, was not run. */
  async run(command: string, options: RunOptions = {}): Promise<SessionResult> {
    checkCommand(command);
    checkTimeout(options.timeoutMs);
    const env = this.#checkedEnv(options.env);
    if (options.workingDir !== undefined) checkWorkingDir(options.workingDir, this.#house.allowedRoots);
    const { release } = holdEventLoop();
    try {
      const leave = await this.#queue.take(options.onWait, options.signal);
      try {
        this.#checkOpen();
        const done = await options.onTurn?.(this.directoryFor(options.workingDir));
        try {
          // It may have been closed while a person was asked.
          this.#checkOpen();
          if (!this.hasBash) await this.#onUse(this);
          const plan = { command, workingDir: this.directoryFor(options.workingDir) };
          return await tellingOf(this.#house.events, this, plan, () =>
            this.#runNow(command, { ...options, env }),
          );
        } finally {
          done?.();
        }
      } finally {
        leave();
      }
    } finally {
      release();
    }
  }

  /** Where a call runs that names this directory: another one than the last call named, or where the session is. */
  directoryFor(workingDir: string | undefined): string {
    return workingDir === undefined || workingDir === this.#named ? this.#succession.directory : workingDir;
  }

  /** Starts a shell that runs on its own, with the session's directory, exports and functions of now. */
  async start(
    command: string,
    { env: given, workingDir, durable = false, timeoutMs }: StartOptions = {},
  ): Promise<ShellProcess> {
    this.#checkOpen();
    const env = this.#checkedEnv(given);
    const named = workingDir !== undefined && workingDir !== this.#named;
    const options = {
      command,
      workingDir: named ? workingDir : nearestDirectory(this.#succession.directory),
      scope: this.scope,
      session: this.id,
      durable,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    };
    // Nothing else may keep this process up while the bash tells its state.
    const { release } = holdEventLoop();
    try {
      if (this.#succession.awaitsProfile) await this.#beBorn();
      const { state, missing } = await this.#succession.savedState();
      const file = state === undefined ? undefined : await this.#writeInheritance(state, env);
      const shell = await this.#house.createShell({
        ...options,
        workspace: this.#succession.workspace,
        ...(file === undefined ? {} : { inherits: file }),
        env: file === undefined ? env : { ...env, BASH_ENV: asBashEnv(file) },
      });
      if (file !== undefined) this.#inheritances.give(file, shell);
      if (!durable) this.#succession.track(shell);
      shell.remark(...staleStartNotes(missing));
      if (state !== undefined)
        shell.remark(...uninheritedNotes(await uninheritedBy(shell, state, this.#succession.nonce)));
      return shell;
    } finally {
      release();
    }
  }

  /** What it leaves to a session of its name in another process; undefined while there is nothing yet. */
  async save(): Promise<SavedSession | undefined> {
    const { release } = holdEventLoop();
    try {
      return await this.#succession.save();
    } finally {
      release();
    }
  }

  /** As Ctrl-C to the command that runs. Tells whether there was one. */
  async interrupt(): Promise<boolean> {
    const running = this.#running;
    const { release } = holdEventLoop();
    try {
      await running?.interrupt();
    } finally {
      release();
    }
    return running !== undefined;
  }

  /** Ends everything it has running and starts anew, where it was born and with nothing of its state. */
  async restart(): Promise<KillReport> {
    this.#checkOpen();
    const { release } = holdEventLoop();
    try {
      const turn = this.#queue.takeFirst();
      this.#succession.willStartAnew = true;
      await this.#running?.kill({ kind: "killed", detail: "restart()" });
      const leave = await turn;
      try {
        const report = await this.#succession.endAll(
          { kind: "killed", detail: "restart()" },
          this.#house.killGraceMs,
        );
        this.#succession.reset();
        this.#named = this.#succession.cwd;
        return report;
      } finally {
        leave();
      }
    } finally {
      release();
    }
  }

  /** Lets its bash go and keeps its state; the next command gets a new one. What it left running lives on. */
  async rest(): Promise<void> {
    const { bash } = this.#succession;
    if (!bash || this.isBusy) return;
    const leave = await this.#queue.take();
    try {
      bash.finish();
      const { kind } = await bash.shell.waitUntil({ exit: true }, this.#house.killGraceMs);
      if (kind === "expired") await bash.shell.end({ kind: "killed", detail: "rest()" }, 0);
      this.#succession.end(bash, this.#succession.number);
      await bash.close();
    } finally {
      leave();
    }
  }

  /** Ends it with everything it ever started. */
  async close({
    by = "the end of its session",
    graceMs = this.#house.killGraceMs,
  }: {
    readonly by?: string;
    readonly graceMs?: number;
  } = {}): Promise<KillReport> {
    if (this.#closed) return { signalled: [], survivors: [] };
    this.#closed = true;
    this.#onClose(this);
    const { release } = holdEventLoop();
    try {
      this.#succession.seal();
      const cause = { kind: "killed", detail: by } as const;
      const report = await this.#succession.endAll(cause, graceMs, this.#result);
      this.#succession.close();
      this.#inheritances.removeAll();
      return report;
    } finally {
      release();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #runNow(command: string, options: RunOptions): Promise<SessionResult> {
    const succession = this.#succession;
    const { workingDir } = options;
    let changeTo = succession.goBack ? succession.cwd : undefined;
    succession.goBack = false;
    if (workingDir !== undefined && workingDir !== this.#named) {
      this.#named = workingDir;
      changeTo = workingDir;
    }
    this.usedMs = monotonicMs();
    const place = {
      house: this.#house,
      succession,
      changeTo,
      onRunning: (running: SessionCommand | undefined) => {
        this.#running = running;
      },
    };
    const result = runInSession(place, command, options);
    this.#result = result;
    try {
      return await result;
    } finally {
      this.#result = undefined;
      this.usedMs = monotonicMs();
    }
  }

  #checkedEnv(env: Readonly<Record<string, string>> | undefined): Record<string, string> {
    if (!env) return {};
    checkSettable(env);
    return buildEnvironment({ inherited: {}, mode: "none", exclude: ["*"], set: env }).env;
  }

  #checkOpen(): void {
    if (this.#closed) throw new NacreError("invalid_input", `The session ${this.id} has been closed.`);
  }

  /** What its profile gives is part of its state. */
  async #beBorn(): Promise<void> {
    const leave = await this.#queue.take();
    try {
      await this.#onUse(this);
      const { bash } = await this.#succession.current([]);
      await bash.birth();
    } finally {
      leave();
    }
  }

  async #writeInheritance(state: string, env: Readonly<Record<string, string>>): Promise<string> {
    const { nonce } = this.#succession;
    if (!this.hasBash) await this.#onUse(this);
    const { bash } = await this.#succession.current([]);
    const baseNames = Object.keys(this.#house.environment.env);
    const isSandboxed = await this.#house.confiner.isEnforced(this.#succession.workspace);
    const reportTo = stateFile(isSandboxed ? SESSION_NAMES.scratch : ".", INHERITED_NUMBER);
    const script = inheritanceScript(state, nonce, baseNames, env, reportTo);
    return this.#inheritances.write(bash.started.files.dir, script);
  }
}

function checkProfile(profile: string | undefined): void {
  if (profile === undefined || profile === LOGIN_PROFILE) return;
  try {
    accessSync(fsPath(profile), constants.R_OK);
  } catch {
    throw new NacreError("invalid_input", `The session's profile cannot be read: ${shownPath(profile)}`);
  }
}
