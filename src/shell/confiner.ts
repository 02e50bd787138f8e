// Connects a manager with the sandbox: turns its options into the start script of one shell.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Confinement, NetworkAccess } from "../engine/confinement.ts";
import type { FifoDir } from "../engine/fifo-dir.ts";
import { findBash } from "../engine/find-bash.ts";
import { KeeperRoots } from "../engine/keeper-roots.ts";
import type { TerminalSize } from "../engine/meta.ts";
import { isNoneSince, markPids } from "../engine/pids-since.ts";
import { pipePath, REPORT_FD } from "../engine/process-pipe.ts";
import { isSameProcess, thisProcess } from "../engine/process-table.ts";
import { ROOT_NAMES, type StateRoot, usualStateRoots } from "../engine/state-dir.ts";
import type { StartContext, StartScript } from "../engine/taken-slot.ts";
import { realPath } from "../sandbox/real-path.ts";
import { type ConfineOptions, Sandbox, type SandboxDeps, type StartRequest } from "../sandbox/sandbox.ts";
import { ownProgram, type TrustedPath } from "../sandbox/trusted-base.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { findScript, terminalArgv } from "../terminal/launch.ts";
import { makeScratch } from "./scratch.ts";

/** Parts of the StartPlan of one shell. */
export interface ConfinedPlan {
  readonly startScript: ((context: StartContext) => StartScript) | undefined;
  /** The sandbox's part of the shell's meta; known once `startScript` has been called. */
  readonly meta: () => { readonly confinement?: Confinement };
  /** Remarks on what has happened since the last call, such as a process that the kernel killed for lack of memory. */
  readonly takeRemarks: () => string[];
}

/** The supervisor's descriptor of the report pipe. Through it, the session's bashes open the pipe (supervisor.sh). */
const SUPERVISOR_REPORT_FD = 9;
export const REPORTS_INSIDE = pipePath(1, SUPERVISOR_REPORT_FD);

/**
 * A program for `node -e` that runs a file as CommonJS, regardless of the file's name and of any package.json above it.
 */
const RUN_FILE = 'new Function("require", require("fs").readFileSync(process.argv[1], "utf8"))(require)';

const UNCONFINED: ConfinedPlan = { startScript: undefined, meta: () => ({}), takeRemarks: () => [] };

export interface ConfinerOptions extends ConfineOptions {
  readonly shellPath?: string;
  readonly trustedFiles?: readonly string[];
}

export class Confiner {
  readonly #options: ConfinerOptions;
  readonly #root: StateRoot;
  readonly #sandbox: Sandbox;
  readonly #deps: SandboxDeps;
  /** The sandbox of previews, which does not depend on the sandbox of other commands. */
  #previews: Sandbox | undefined;

  constructor(options: ConfinerOptions, root: StateRoot) {
    this.#options = options;
    this.#root = root;
    const keepers = new KeeperRoots();
    this.#deps = {
      stateRoots: [root.path, ...usualStateRoots()],
      runningRoots: () => keepers.current(),
      trusted: () => this.#trusted(),
      self: thisProcess(),
      isAlive: ({ pid, startTime }) => isSameProcess(pid, startTime),
    };
    this.#sandbox = new Sandbox(options, this.#deps);
  }

  get #isSandboxed(): boolean {
    return (this.#options.sandbox ?? "off") !== "off";
  }

  /** Removes placeholders and control groups of shells whose host was dead when they ended. */
  tidy(): void {
    this.#sandbox.tidy();
  }

  /** Tests the sandbox of a known workspace, to find problems before the first command. */
  async warmUp(): Promise<void> {
    this.tidy();
    const { workspace } = this.#options;
    if (workspace !== undefined && this.#sandbox.isNeeded) await this.#prepare(workspace);
  }

  /**
   * The plan for a shell that runs its command as a script. `inherits` is a script that the shell reads first. The
   * shell then writes the resulting state to its scratch directory. With `terminal`, the command gets a new terminal of
   * this size.
   */
  async forScript(at: {
    readonly workspace: string | undefined;
    readonly workingDir: string;
    readonly inherits?: string | undefined;
    readonly terminal?: TerminalSize | undefined;
    /** The directory of the preview that the command runs in. */
    readonly previewDir?: string | undefined;
  }): Promise<ConfinedPlan> {
    const { terminal: size, previewDir, inherits } = at;
    const sandbox = previewDir === undefined ? this.#sandbox : this.#previewSandbox();
    const scriptPath = size && findScript();
    const argvOf = ({ files, bashPath }: StartContext) =>
      size && scriptPath !== undefined
        ? terminalArgv({ scriptPath, bashPath, commandFile: files.command, size })
        : [bashPath, files.command];
    const plan = await this.#plan(
      at,
      (context) => ({
        argv: argvOf(context),
        readable: [context.files.command, ...(inherits === undefined ? [] : [inherits])],
        writable: inherits === undefined ? [] : [makeScratch(context.files.dir)],
        ...(previewDir === undefined ? {} : { overlayDir: previewDir }),
      }),
      sandbox,
    );
    return size ? withProgram(plan, argvOf) : plan;
  }

  /** The plan for the supervisor of a sandboxed session. */
  async forSession(
    at: { readonly workspace: string | undefined; readonly workingDir: string },
    fifoDir: FifoDir,
  ): Promise<ConfinedPlan> {
    return await this.#plan(at, ({ files, bashPath, supervisorFiles, holder }) => ({
      argv: [bashPath, supervisorFiles[0], bashPath],
      readable: [...supervisorFiles, fifoDir.path],
      writable: [makeScratch(files.dir)],
      pipes: [{ fd: SUPERVISOR_REPORT_FD, path: pipePath(holder.pid, REPORT_FD) }],
      isInit: true,
    }));
  }

  /** The plan for a helper process of nacre that runs Node and answers through a pipe. */
  async forWorker(workspace: string): Promise<ConfinedPlan> {
    return await this.#plan({ workspace, workingDir: workspace }, ({ files, holder }) => ({
      argv: [process.execPath, "--eval", RUN_FILE, files.command],
      readable: [files.command],
      pipes: [{ fd: SUPERVISOR_REPORT_FD, path: pipePath(holder.pid, REPORT_FD) }],
    }));
  }

  /** Whether commands of this workspace run in a sandbox: one is requested, and it works. */
  async isEnforced(workspace: string): Promise<boolean> {
    if (!this.#isSandboxed) return false;
    const root = this.#options.workspace ?? workspace;
    return (await this.#prepare(root)) !== "none";
  }

  /** The workspace of a command, without links. */
  workspaceFor(workspace: string): string {
    return realPath(this.#options.workspace ?? workspace);
  }

  /** How commands of previews are confined. */
  get previewRules(): { readonly network: NetworkAccess; readonly readOnlyPaths: readonly string[] } {
    const { network = "none", writable = [] } = this.#options;
    return { network, readOnlyPaths: writable };
  }

  /** Throws, with the cause, if commands cannot be previewed in this workspace. */
  async checkPreviews(workspace: string): Promise<void> {
    await this.#prepare(this.workspaceFor(workspace), this.#previewSandbox());
  }

  #previewSandbox(): Sandbox {
    if (this.#options.sandbox === "read-only") {
      throw new NacreError(
        "unavailable",
        'The sandbox is "read-only": no command may change the workspace, so there is nothing to preview. Use "workspace-write", or no sandbox.',
      );
    }
    const { writable: _, ...options } = this.#options;
    this.#previews ??= new Sandbox(
      { ...options, sandbox: "workspace-write", allowUnsandboxed: false },
      {
        ...this.#deps,
        preview: { dir: join(this.#root.path, ROOT_NAMES.previews), isGuarded: this.#isSandboxed },
      },
    );
    return this.#previews;
  }

  /** Whether this directory is visible to a sandboxed command. */
  isVisible(directory: string, workspace: string): boolean {
    return this.#sandbox.isVisible(directory, this.#options.workspace ?? workspace);
  }

  /**
   * Prepares the sandbox. Checks the state directory first, because its error explains more than the error of a failing
   * sandbox.
   */
  async #prepare(workspace: string, sandbox = this.#sandbox): ReturnType<Sandbox["prepare"]> {
    this.#root.ensure();
    // Create missing state roots now: a sandbox cannot hide a missing directory, and a running session would see one
    // that is created later.
    if (this.#isSandboxed || sandbox === this.#previews)
      for (const root of usualStateRoots()) makeIfPossible(root);
    return await sandbox.prepare(workspace);
  }

  #trusted(): TrustedPath[] {
    const bash = attempt(() => findBash(this.#options.shellPath, process.env["PATH"]));
    const files = (this.#options.trustedFiles ?? []).map((path) => realPath(path));
    return [...ownProgram(bash), ...files.map((path) => ({ path, role: "is read outside of the sandbox" }))];
  }

  async #plan(
    { workspace, workingDir }: { readonly workspace: string | undefined; readonly workingDir: string },
    inside: (context: StartContext) => Omit<StartRequest, "workspace" | "workingDir">,
    sandbox = this.#sandbox,
  ): Promise<ConfinedPlan> {
    if (!sandbox.isNeeded) return UNCONFINED;
    const root = this.#options.workspace ?? workspace ?? workingDir;
    await this.#prepare(root, sandbox);
    let confinement: Confinement | undefined;
    let takeRemarks: () => string[] = () => [];
    return {
      startScript: (context) => {
        const request = { ...inside(context), workspace: root, workingDir, hasForked: forkWatch() };
        const made = sandbox.start(request, {
          id: context.id,
          dir: context.files.dir,
          holder: context.holder,
        });
        confinement = made.confinement;
        takeRemarks = () => made.start.takeRemarks();
        return made.start;
      },
      meta: () => (confinement ? { confinement } : {}),
      takeRemarks: () => takeRemarks(),
    };
  }
}

/**
 * Lets a shell outside a sandbox execute a program instead of reading its command. In a sandbox, bwrap executes the
 * program.
 */
function withProgram(plan: ConfinedPlan, argvOf: (context: StartContext) => readonly string[]): ConfinedPlan {
  return {
    ...plan,
    startScript: (context) => {
      const start = plan.startScript?.(context) ?? { script: "", files: [], end: () => [] };
      if (plan.meta().confinement?.driver === "bubblewrap") return start;
      return { ...start, script: `${start.script}exec ${argvOf(context).map(shellQuote).join(" ")}\n` };
    },
  };
}

/** Returns whether a process was started since the last call. */
function forkWatch(): () => boolean {
  let mark = markPids();
  return () => {
    if (isNoneSince(mark)) return false;
    mark = markPids();
    return true;
  };
}

/** Does not create a missing home directory. */
function makeIfPossible(root: string): void {
  attempt(() => {
    if (existsSync(dirname(dirname(dirname(root))))) makeDirs(root);
  });
}
