// Starts the bashes of a session, one at a time. Each bash runs in an ordinary slot and reads its script from this
// process. The script first restores the saved state. Commands can be sent before bash has finished restoring it. Owns
// the session's sandbox, the number of bashes so far, and the set of bashes that may still report.
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import type { Cause, ExitRecord } from "../engine/end-record.ts";
import { ownMeta, type ShellMeta } from "../engine/meta.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { REPORTS_INSIDE } from "../shell/confiner.ts";
import { endShells } from "../shell/kill.ts";
import { NacreError } from "../support/errors.ts";
import { PROFILE_MAX_MS } from "../support/limits.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { checkWorkingDir } from "../support/start-checks.ts";
import { openReports, ScriptChannel } from "./bash-pipes.ts";
import type { SavedState } from "./bash-state.ts";
import { onlyCommand } from "./command-processes.ts";
import { adjustMessage, harnessContext, LOGIN_PROFILE, startMessage } from "./harness-state.ts";
import { SessionBash } from "./session-bash.ts";
import type { SessionDirectory } from "./session-directory.ts";
import type { SessionDeps, SessionOptions } from "./session-options.ts";
import { type ReportListener, ReportReader } from "./session-reports.ts";
import { restoreScript, suspendedSettingsOf } from "./session-restore.ts";
import { type BashProcess, SessionSandbox } from "./session-sandbox.ts";
import { readEnvironmentList, writeScript } from "./state-files.ts";

export interface StarterOptions extends SessionOptions {
  readonly id: string;
  readonly nonce: string;
}

export class BashStarter {
  readonly #deps: SessionDeps;
  readonly #options: StarterOptions;
  readonly #bashes = new Set<SessionBash>();
  /** The receivers of reports: the bashes in #bashes, and the sandbox. */
  readonly #listeners = new Set<ReportListener>();
  #generation = 0;
  #sandbox: SessionSandbox | undefined;

  constructor(deps: SessionDeps, options: StarterOptions) {
    checkProfile(options.profile);
    this.#deps = deps;
    this.#options = options;
  }

  /** Whether the profile of the session has not been sourced yet. */
  get awaitsProfile(): boolean {
    return this.#generation === 0 && this.#options.profile !== undefined && !this.#options.saved;
  }

  get isSandboxOpen(): boolean {
    return this.#sandbox?.isOpen ?? false;
  }

  /**
   * Resolves when commands can be sent. With a profile, that is when bash has sourced it. `number` is the number of the
   * last command sent.
   */
  async start(directory: SessionDirectory, number: number, saved: SavedState): Promise<SessionBash> {
    const isSandboxed = await this.#deps.confiner.isEnforced(this.#options.workingDir);
    const sandbox = isSandboxed ? await this.#openSandbox(directory) : undefined;
    if (!sandbox) checkWorkingDir(directory.cwd, undefined);
    const profile = this.#generation++ === 0 ? this.#options.profile : undefined;
    const bash = await this.#open({ sandbox, workingDir: directory.cwd, number, saved, profile });
    this.#bashes.add(bash);
    this.#listeners.add(bash);
    this.#deps.watch(bash.shell);
    const restoreFrom = await this.#writeRestoreScript(bash, saved);
    const profileEnvPath = join(bash.scratch, SESSION_NAMES.profileEnvironment);
    const { disabled } = bash.state.suspendedSettings;
    const file = bash.state.saves.nextFile;
    bash.state.saves.add(number, file);
    const message = { restoreFrom, profile, profileEnvPath, number, file, disabled };
    bash.send(startMessage(bash.options.harness, message));
    if (profile !== undefined) await this.#whenSourced(bash, profileEnvPath, number);
    // The sandbox and its supervisor fork only now. Wait for them: otherwise they would look like leftovers of the
    // first command.
    else if (sandbox) await bash.ready();
    return bash;
  }

  /** Ends every bash that is still restoring its state or sourcing a profile. */
  endUnready(cause: Cause): void {
    for (const bash of this.#bashes) if (!bash.isReady) void bash.shell.end(cause, 0);
  }

  endSandbox(): void {
    this.#sandbox?.end();
    this.#sandbox = undefined;
  }

  /** Leaves the sandbox, with its jobs and temporary files, to this bash. The next bash gets a new sandbox. */
  leaveSandboxTo(bash: SessionBash): void {
    if (bash.options.sandbox === this.#sandbox) this.#sandbox = undefined;
  }

  async #open(start: {
    readonly sandbox: SessionSandbox | undefined;
    readonly workingDir: string;
    readonly number: number;
    readonly saved: SavedState;
    readonly profile: string | undefined;
  }): Promise<SessionBash> {
    const { engine, capBytes } = this.#deps;
    const { nonce } = this.#options;
    const { sandbox, workingDir, saved } = start;
    const token = `${nonce}.${this.#generation}`;
    let bash: SessionBash | undefined;
    const onExit = (record: ExitRecord) => bash?.conclude(record);
    const process = sandbox
      ? await sandbox.start(token, workingDir, onExit)
      : await this.#startUnsandboxed(workingDir, onExit);
    try {
      const { started } = process;
      const reports = sandbox ? undefined : openReports(started, new ReportReader(this.#listeners));
      const scratch = sandbox?.scratch ?? started.files.dir;
      bash = new SessionBash({
        ...process,
        engine,
        harness: harnessContext(
          nonce,
          token,
          reports?.path ?? REPORTS_INSIDE,
          scratch,
          started.tag !== undefined,
        ),
        reports,
        scratch,
        capBytes,
        sandbox,
        inheritedPrefix: saved.prefix,
        suspendedSettings: suspendedSettingsOf(saved.state, nonce),
        inherited: saved.state === undefined ? undefined : { state: saved.state, number: start.number },
        profile: start.profile,
        onEnd: (ended) => this.#forget(ended),
        kill: ({ shell }, number) => {
          const target = shell.toKill({ kind: "killed", detail: "the session" });
          void endShells(onlyCommand(engine, { number }, "always"), [target], 0);
        },
      });
      return bash;
    } catch (error) {
      process.channel?.close();
      throw error;
    }
  }

  async #startUnsandboxed(workingDir: string, onExit: (record: ExitRecord) => void): Promise<BashProcess> {
    const { confiner, engine, capBytes } = this.#deps;
    const confined = await confiner.forScript({ workspace: this.#options.workingDir, workingDir });
    const { scriptFd, ...started } = await engine.start({
      command: "",
      session: true,
      workingDir,
      variables: {},
      capBytes,
      streams: "split",
      startScript: confined.startScript,
      meta: (id) => ({ ...this.#meta(id, workingDir), ...confined.meta() }),
      onExit,
    });
    const channel = scriptFd === undefined ? undefined : new ScriptChannel(scriptFd);
    return { started, channel, takeRemarks: confined.takeRemarks, pidOf: (pid) => pid };
  }

  /** Writes the script to the new bash's directory, because the previous bash's directory may be deleted later. */
  async #writeRestoreScript(bash: SessionBash, { state }: SavedState): Promise<string | undefined> {
    if (state === undefined) return undefined;
    const { harness, sandbox } = bash.options;
    const { dir } = bash.started.files;
    const path = join(sandbox?.fifoDir.path ?? dir, SESSION_NAMES.restore(harness.token));
    try {
      writeScript(path, restoreScript(state, harness.nonce, Object.keys(this.#deps.environment.env)), dir);
      return path;
    } catch (error) {
      // SessionLineage still has the state. Once the disk has space again, a new bash gets that state.
      await bash.shell.end({ kind: "killed", detail: "the session" }, 0);
      await bash.close();
      throw error;
    }
  }

  /** Waits until bash has sourced the profile, then removes the exported variables that nacre does not allow. */
  async #whenSourced(bash: SessionBash, profileEnvPath: string, number: number): Promise<void> {
    const timer = setTimeout(() => bash.expire(), this.#options.profileTimeoutMs ?? PROFILE_MAX_MS);
    await bash.ready();
    clearTimeout(timer);
    // If the profile ended bash, the next command reports that.
    if (!bash.isReady) return;
    const found = readEnvironmentList(profileEnvPath);
    const { env, dropped } = this.#deps.sanitize(found);
    const set = Object.fromEntries(Object.entries(env).filter(([name, value]) => found[name] !== value));
    const unset = dropped.map(({ name }) => name).filter((name) => name in found);
    const { suspendedSettings } = bash.state;
    const file = bash.state.saves.nextFile;
    bash.state.saves.add(number, file);
    bash.send(adjustMessage(bash.options.harness, { set, unset, number, file, suspendedSettings }));
  }

  async #openSandbox(directory: SessionDirectory): Promise<SessionSandbox> {
    if (this.#sandbox?.isOpen) return this.#sandbox;
    const { engine, confiner, capBytes } = this.#deps;
    const { workingDir: workspace } = this.#options;
    // If the directory was in the last sandbox's /tmp, it disappeared with that sandbox.
    if (!confiner.isVisible(directory.cwd, workspace)) directory.changeTo(workspace);
    checkWorkingDir(directory.cwd, undefined);
    const { cwd: workingDir } = directory;
    const sandbox = await SessionSandbox.open({
      engine,
      confiner,
      workspace,
      workingDir,
      capBytes,
      meta: (id) => this.#meta(id, workingDir),
      reader: new ReportReader(this.#listeners),
      onEnd: (shell) => {
        this.#listeners.delete(sandbox);
        this.#deps.unwatch(shell);
      },
    });
    this.#listeners.add(sandbox);
    this.#deps.watch(sandbox.shell);
    this.#sandbox = sandbox;
    return sandbox;
  }

  #meta(id: string, workingDir: string): ShellMeta {
    const { id: session, scope = "default" } = this.#options;
    return ownMeta({ id, role: "session", workingDir, scope, session, capBytes: this.#deps.capBytes });
  }

  #forget(bash: SessionBash): void {
    // Remove bash from the listeners only after close(), because close() passes on the last reports.
    bash.options.reports?.close();
    this.#bashes.delete(bash);
    this.#listeners.delete(bash);
    this.#deps.unwatch(bash.shell);
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
