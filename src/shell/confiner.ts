// Between a manager and the sandbox: what is asked of it for one shell, in the host's words.
import type { Beginning, StartPlace } from "../hosts/host.ts";
import { isSameProcess } from "../hosts/process-table.ts";
import { type ConfineOptions, Sandbox, type StartRequest } from "../sandbox/sandbox.ts";
import type { Confinement } from "../spool/confinement.ts";
import { defaultStateRoot, type SpoolRoot } from "../spool/layout.ts";

/** Parts of a plan for the host, for one shell. */
export interface ConfinedPlan {
  readonly begin: ((place: StartPlace) => Beginning) | undefined;
  /** Part of its meta; known when `begin` has been called. */
  readonly meta: () => { readonly confinement?: Confinement };
}

const UNCONFINED: ConfinedPlan = { begin: undefined, meta: () => ({}) };

export class Confiner {
  readonly #options: ConfineOptions;
  readonly #sandbox: Sandbox;

  constructor(options: ConfineOptions, root: SpoolRoot) {
    this.#options = options;
    this.#sandbox = new Sandbox(options, {
      stateRoots: [root.path, defaultStateRoot()],
      isAlive: ({ pid, startTime }) => isSameProcess(pid, startTime),
    });
  }

  /** Whether it runs commands in a world of their own. */
  get isSandboxed(): boolean {
    return (this.#options.sandbox ?? "off") !== "off";
  }

  /** Tries the sandbox of a workspace that is known, so that a refusal comes early. */
  async warmUp(): Promise<void> {
    this.#sandbox.tidy();
    const { workspace } = this.#options;
    if (workspace !== undefined && this.#sandbox.isNeeded) await this.#sandbox.prepare(workspace);
  }

  /** For a shell that runs its command as a script. */
  async forScript(at: {
    readonly workspace: string | undefined;
    readonly workingDir: string;
  }): Promise<ConfinedPlan> {
    return await this.#plan(at, ({ files, bashPath }) => ({
      argv: [bashPath, files.command],
      readable: [files.command],
    }));
  }

  async #plan(
    { workspace, workingDir }: { readonly workspace: string | undefined; readonly workingDir: string },
    inside: (place: StartPlace) => Omit<StartRequest, "workspace" | "workingDir">,
  ): Promise<ConfinedPlan> {
    if (!this.#sandbox.isNeeded) return UNCONFINED;
    const root = workspace ?? this.#options.workspace ?? workingDir;
    await this.#sandbox.prepare(root);
    let confinement: Confinement | undefined;
    return {
      begin: (place) => {
        const request = { ...inside(place), workspace: root, workingDir };
        const made = this.#sandbox.start(request, {
          id: place.id,
          dir: place.files.dir,
          holder: place.holder,
        });
        confinement = made.confinement;
        return made.start;
      },
      meta: () => (confinement ? { confinement } : {}),
    };
  }
}
