// Between a manager and the sandbox: what is asked of it for one shell, in the host's words.
import type { Beginning, StartPlace } from "../hosts/host.ts";
import { isNoneSince, markPids } from "../hosts/pids-since.ts";
import { isSameProcess } from "../hosts/process-table.ts";
import type { ReportFifo } from "../hosts/report-fifo.ts";
import type { Room } from "../hosts/room.ts";
import { SUPERVISOR } from "../keeper/supervisor.ts";
import { type ConfineOptions, Sandbox, type StartRequest } from "../sandbox/sandbox.ts";
import type { Confinement } from "../spool/confinement.ts";
import { defaultStateRoot, type SpoolRoot } from "../spool/layout.ts";
import { makeScratch } from "./scratch.ts";

/** Parts of a plan for the host, for one shell. */
export interface ConfinedPlan {
  readonly begin: ((place: StartPlace) => Beginning) | undefined;
  /** Part of its meta; known when `begin` has been called. */
  readonly meta: () => { readonly confinement?: Confinement };
  /** Remarks on what has happened since the last look: a process that was killed for want of memory, say. */
  readonly look: () => string[];
}

const UNCONFINED: ConfinedPlan = { begin: undefined, meta: () => ({}), look: () => [] };

export class Confiner {
  readonly #options: ConfineOptions;
  readonly #root: SpoolRoot;
  readonly #sandbox: Sandbox;

  constructor(options: ConfineOptions, root: SpoolRoot) {
    this.#options = options;
    this.#root = root;
    this.#sandbox = new Sandbox(options, {
      stateRoots: [root.path, ...usualRoot()],
      isAlive: ({ pid, startTime }) => isSameProcess(pid, startTime),
    });
  }

  get #isSandboxed(): boolean {
    return (this.#options.sandbox ?? "off") !== "off";
  }

  /** Removes what shells needed that have ended with nobody there to hear of it. */
  tidy(): void {
    this.#sandbox.tidy();
  }

  /** Tries the sandbox of a workspace that is known, so that a refusal comes early. */
  async warmUp(): Promise<void> {
    this.tidy();
    const { workspace } = this.#options;
    if (workspace !== undefined && this.#sandbox.isNeeded) await this.#prepare(workspace);
  }

  /** For a shell that runs its command as a script; `inherits` is a file it reads first. */
  async forScript(at: {
    readonly workspace: string | undefined;
    readonly workingDir: string;
    readonly inherits?: string | undefined;
  }): Promise<ConfinedPlan> {
    return await this.#plan(at, ({ files, bashPath }) => ({
      argv: [bashPath, files.command],
      readable: [files.command, ...(at.inherits === undefined ? [] : [at.inherits])],
    }));
  }

  /** For the first process of a sandboxed session. */
  async forSession(
    at: { readonly workspace: string | undefined; readonly workingDir: string },
    { room, reports }: { readonly room: Room; readonly reports: ReportFifo },
  ): Promise<ConfinedPlan> {
    return await this.#plan(at, ({ files, bashPath }) => ({
      argv: [bashPath, SUPERVISOR, bashPath, room.control, reports.path],
      readable: [SUPERVISOR, room.path],
      writable: [makeScratch(files.dir)],
      isInit: true,
    }));
  }

  /** Whether commands of this workspace run in a sandbox: one was asked for, and it can be had. */
  async isEnforced(workspace: string): Promise<boolean> {
    if (!this.#isSandboxed) return false;
    const root = this.#options.workspace ?? workspace;
    return (await this.#prepare(root)) !== "none";
  }

  /** Whether a sandboxed command can stand in this directory. */
  isSeen(directory: string, workspace: string): boolean {
    return this.#sandbox.isSeen(directory, this.#options.workspace ?? workspace);
  }

  /** A state directory that cannot be used says so itself, better than a sandbox that finds no place in it. */
  async #prepare(workspace: string): ReturnType<Sandbox["prepare"]> {
    this.#root.ensure();
    return await this.#sandbox.prepare(workspace);
  }

  async #plan(
    { workspace, workingDir }: { readonly workspace: string | undefined; readonly workingDir: string },
    inside: (place: StartPlace) => Omit<StartRequest, "workspace" | "workingDir">,
  ): Promise<ConfinedPlan> {
    if (!this.#sandbox.isNeeded) return UNCONFINED;
    const root = this.#options.workspace ?? workspace ?? workingDir;
    await this.#prepare(root);
    let confinement: Confinement | undefined;
    let look: () => string[] = () => [];
    return {
      begin: (place) => {
        const request = { ...inside(place), workspace: root, workingDir, hasForked: forkWatch() };
        const made = this.#sandbox.start(request, {
          id: place.id,
          dir: place.files.dir,
          holder: place.holder,
        });
        confinement = made.confinement;
        look = () => made.start.look();
        return made.start;
      },
      meta: () => (confinement ? { confinement } : {}),
      look: () => look(),
    };
  }
}

/** Tells of processes that were started since it was last asked. */
function forkWatch(): () => boolean {
  let mark = markPids();
  return () => {
    if (isNoneSince(mark)) return false;
    mark = markPids();
    return true;
  };
}

/** Others keep their shells there. Nobody does where there is no home. */
function usualRoot(): string[] {
  try {
    return [defaultStateRoot()];
  } catch {
    return [];
  }
}
