// Confines the shells of a manager: tests that the sandbox works, and turns a start into a confined start. If the
// sandbox does not work, nacre refuses the start. With `allowUnsandboxed`, nacre instead starts the shell without a
// sandbox and reports that.
import { join } from "node:path";
import { type Confinement, SANDBOX_PROFILES } from "../engine/confinement.ts";
import type { LockOwner } from "../engine/process-lock.ts";
import { ROOT_NAMES } from "../engine/state-dir.ts";
import type { StartScript } from "../engine/taken-slot.ts";
import { NacreError } from "../support/errors.ts";
import { isWithin, shownPath } from "../support/path-text.ts";
import { Bubblewrap, type WrappedStart } from "./bubblewrap.ts";
import type { SandboxRefusal } from "./explain.ts";
import { type FoundRepository, RepositoryFinder } from "./find-repositories.ts";
import { LinkWatch } from "./guarded-links.ts";
import { NewRepositories } from "./new-repositories.ts";
import { overlayProblem, plantPlaceholders } from "./overlay.ts";
import { type PlaceholderHolder, Placeholders } from "./placeholders.ts";
import { realPath } from "./real-path.ts";
import { type LimitOptions, Limits } from "./resource-limits.ts";
import { type SandboxOptions, type SandboxSpec, sandboxSpec } from "./sandbox-options.ts";
import { type InheritedPipe, startScript } from "./start-script.ts";
import type { TrustedPath } from "./trusted-base.ts";
import { isVisible } from "./view.ts";

export interface ConfineOptions extends SandboxOptions, LimitOptions {}

/** The shell to start. */
export interface SandboxedShell {
  readonly id: string;
  /** The shell's own directory. */
  readonly dir: string;
  readonly holder: PlaceholderHolder;
}

export interface StartRequest {
  readonly workspace: string;
  readonly workingDir: string;
  /** The program and its arguments inside the sandbox. */
  readonly argv: readonly string[];
  /** Paths in the state root that the shell reads. */
  readonly readable: readonly string[];
  readonly writable?: readonly string[];
  readonly pipes?: readonly InheritedPipe[];
  readonly isInit?: boolean;
  /** The layers of the overlay over the workspace; only in a sandbox for previews. */
  readonly overlayDir?: string;
  /** Whether a process was started since the last call. If none was, there can be no new repository. */
  readonly hasForked?: () => boolean;
}

/** The files of a confined start, and its cleanup. */
export interface ConfinedStart extends StartScript {
  /** Remarks on events since the last call. */
  takeRemarks(): string[];
}

/** What the sandbox needs to know about this nacre process and others. */
export interface SandboxDeps extends LockOwner {
  /** The state root of this manager first, then others to hide. */
  readonly stateRoots: readonly [string, ...string[]];
  /** The state roots of all running hosts; called for each start. */
  readonly runningRoots: () => readonly string[];
  /** Files that nacre runs or reads outside the sandbox. */
  readonly trusted: () => readonly TrustedPath[];
  /** Set for a sandbox in which the workspace is under an overlay. */
  readonly preview?: PreviewSandbox;
}

export interface PreviewSandbox {
  /** The directory that contains all previews. */
  readonly dir: string;
  /** Whether commands without a preview run in a sandbox, which protects files such as git hooks. */
  readonly isGuarded: boolean;
}

/**
 * The sandbox of one workspace. Without `spec`, there is no sandbox, and `notEnforced` names the sandbox that was
 * requested.
 */
interface PreparedWorkspace {
  readonly spec?: SandboxSpec;
  readonly notEnforced: readonly string[];
}

/**
 * Refuses options that have no effect without a sandbox: otherwise the user would rely on protection that does not
 * exist.
 */
function refuseWithoutSandbox({ network, hide = [] }: SandboxOptions): void {
  const option = network === "none" ? 'network "none"' : hide.length > 0 ? "hide" : undefined;
  if (option === undefined) return;
  throw new NacreError(
    "invalid_input",
    `The option ${option} has no effect without a sandbox: set sandbox (--sandbox) to "read-only" or "workspace-write", or remove the option.`,
  );
}

export class Sandbox {
  readonly #options: ConfineOptions;
  readonly #deps: SandboxDeps;
  readonly #limits: Limits;
  readonly #placeholders: Placeholders;
  readonly #bubblewrap: Bubblewrap;
  readonly #repositories = new RepositoryFinder();
  /** Prepared sandboxes by workspace. */
  readonly #prepared = new Map<string, PreparedWorkspace>();

  constructor(options: ConfineOptions, deps: SandboxDeps) {
    const { sandbox = "off" } = options;
    if (!SANDBOX_PROFILES.includes(sandbox)) {
      throw new NacreError(
        "invalid_input",
        `Unknown sandbox ${JSON.stringify(sandbox)}: use ${SANDBOX_PROFILES.join(", ")}.`,
      );
    }
    if (sandbox === "off") refuseWithoutSandbox(options);
    this.#options = options;
    this.#deps = deps;
    const dir = join(deps.stateRoots[0], ROOT_NAMES.sandbox);
    this.#limits = new Limits(options);
    this.#placeholders = new Placeholders(join(dir, "placeholders"), deps);
    this.#bubblewrap = new Bubblewrap(dir);
  }

  /** Whether a sandbox or a limit is requested. */
  get isNeeded(): boolean {
    return this.#isRequested || this.#limits.isAny;
  }

  /** Cleans up after nacre processes that crashed. */
  tidy(): void {
    if (this.#isRequested) this.#placeholders.tidy();
    this.#limits.tidy();
  }

  /** Tests the sandbox for this workspace once. Throws if it does not work. */
  async prepare(workspace: string): Promise<Confinement["driver"]> {
    const known = this.#prepared.get(workspace) ?? (await this.#probe(workspace));
    this.#prepared.set(workspace, known);
    return known.spec ? "bubblewrap" : "none";
  }

  /** Whether commands of this workspace can use this working directory. */
  isVisible(directory: string, workspace: string): boolean {
    const spec = this.#prepared.get(workspace)?.spec;
    return spec === undefined || isVisible(directory, spec);
  }

  /** Confines one start. `prepare` must have been called for the workspace. */
  start(
    request: StartRequest,
    shell: SandboxedShell,
  ): { readonly start: ConfinedStart; readonly confinement: Confinement } {
    const prepared = this.#prepared.get(request.workspace);
    if (!prepared)
      throw new NacreError("internal", `The sandbox was not prepared for ${shownPath(request.workspace)}.`);
    const roots = prepared.spec?.writable ?? [];
    const found = this.#repositories.find(roots);
    const wrapped = prepared.spec && this.#wrap(prepared.spec, request, shell, found.repositories);
    const limits = this.#limits.isAny ? this.#limits.plan(shell.id, ownProcessesCount(wrapped)) : undefined;
    const repositories = new NewRepositories(this.#repositories, roots, found);
    const links = new LinkWatch(wrapped?.links ?? []);
    const { hasForked = () => true, pipes = [] } = request;
    const start: ConfinedStart = {
      script: startScript({ limits, wrapped, dir: shell.dir, pipes }),
      files: (wrapped?.descriptors ?? []).flatMap(({ file, content }) =>
        content ? [{ name: file, content }] : [],
      ),
      takeRemarks: () => [
        ...(limits?.takeRemarks() ?? []),
        ...(hasForked() ? [...repositories.remarks(), ...links.remarks()] : []),
      ],
      end: () => {
        if (wrapped && wrapped.placeholders.length > 0) this.#placeholders.release(shell.holder);
        return [...(limits?.end() ?? []), ...repositories.remarks(), ...links.remarks()];
      },
    };
    const confinement = wrapped?.confinement ?? unconfined(prepared.notEnforced);
    const notEnforced = [...confinement.notEnforced, ...(limits?.notEnforced ?? [])];
    return { start, confinement: { ...confinement, notEnforced } };
  }

  get #isRequested(): boolean {
    return (this.#options.sandbox ?? "off") !== "off";
  }

  async #probe(workspace: string): Promise<PreparedWorkspace> {
    const { stateRoots } = this.#deps;
    const { preview } = this.#deps;
    const isGuarded = preview?.isGuarded ?? true;
    const trusted = isGuarded ? this.#deps.trusted() : [];
    const wanted = sandboxSpec(this.#options, { workspace, stateRoots, trusted });
    if (!wanted) return { notEnforced: [] };
    const spec = { ...wanted, isGuarded };
    if (preview) refuseOverlay(overlayProblem({ dir: preview.dir, workspace: spec.workspace }));
    const probed = await this.#bubblewrap.probe(spec, this.#placeholders.held(), preview !== undefined);
    if (probed.ok) return { spec, notEnforced: [] };
    if (preview) refuseOverlay(probed);
    if (this.#options.allowUnsandboxed) {
      return { notEnforced: [`the sandbox "${spec.profile}": ${probed.why}. ${probed.fix}`] };
    }
    throw new NacreError(
      "spawn_failed",
      `The sandbox "${spec.profile}" cannot be enforced here, so nothing was run: ${probed.why}. ${probed.fix} To run without the sandbox, set allowUnsandboxed (--allow-unsandboxed).`,
    );
  }

  #wrap(
    prepared: SandboxSpec,
    { argv, workingDir, readable, writable = [], isInit = false, overlayDir }: StartRequest,
    { holder }: SandboxedShell,
    repositories: readonly FoundRepository[],
  ): WrappedStart {
    const spec = withRunningRoots(prepared, this.#deps.runningRoots());
    const visibleState = { stateRoot: this.#deps.stateRoots[0], readable, writable };
    if (overlayDir !== undefined) {
      // Check again: a mount may have appeared in the workspace since the sandbox was prepared.
      refuseOverlay(overlayProblem({ dir: overlayDir, workspace: spec.workspace }));
      const isPlaceholder = this.#placeholders.held();
      const plan = { argv, workingDir, visibleState, repositories, isPlaceholder, overlayDir };
      const wrapped = this.#bubblewrap.wrap(spec, plan);
      plantPlaceholders({ dir: overlayDir, workspace: spec.workspace }, wrapped.placeholders);
      return { ...wrapped, placeholders: [] };
    }
    return this.#placeholders.hold(holder, (isPlaceholder) =>
      this.#bubblewrap.wrap(spec, { argv, workingDir, visibleState, repositories, isPlaceholder, isInit }),
    );
  }
}

function refuseOverlay(problem: SandboxRefusal | undefined): void {
  if (!problem) return;
  throw new NacreError(
    "unavailable",
    `Previews do not work here, so nothing was run: ${problem.why}. ${problem.fix}`,
  );
}

function unconfined(notEnforced: readonly string[]): Confinement {
  return { driver: "none", profile: "off", network: "full", notEnforced };
}

/** The parts of another host's state root to hide if the workspace is inside it. */
const PARTS_OF_ROOT = [ROOT_NAMES.keepers, ROOT_NAMES.shells, ROOT_NAMES.sandbox];

/** Adds the state roots of other running hosts, which the sandbox hides. */
function withRunningRoots(spec: SandboxSpec, running: readonly string[]): SandboxSpec {
  const others = running.map(realPath).filter((root) => !spec.stateRoots.includes(root));
  const containsWork = (root: string) =>
    [spec.workspace, ...spec.writable].some((path) => isWithin(path, root));
  const transientRoots = others.flatMap((root) =>
    containsWork(root) ? PARTS_OF_ROOT.map((part) => join(root, part)) : [root],
  );
  return { ...spec, transientRoots };
}

/**
 * The number of nacre's own processes: bwrap itself and the first process of its PID namespace. If bash may have to run
 * bwrap again (start-script.ts), this bash counts too.
 */
function ownProcessesCount(wrapped: WrappedStart | undefined): number {
  if (!wrapped) return 0;
  return wrapped.canVanish ? 3 : 2;
}
