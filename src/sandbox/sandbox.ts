// All a manager needs to confine what it starts: checks that the sandbox can be had, and makes of a start a confined
// one. Refuses where it cannot; runs without only if its owner said so, and tells.
import { join } from "node:path";
import { type Confinement, SANDBOX_PROFILES } from "../engine/confinement.ts";
import { ROOT_NAMES } from "../engine/state-dir.ts";
import { NacreError } from "../support/errors.ts";
import { shownPath } from "../support/path-text.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import type { Descriptor, SandboxDriver, WrapPlan, WrappedStart } from "./driver.ts";
import { type FoundRepositories, RepositoryFinder } from "./find-repositories.ts";
import { LinkWatch } from "./guarded-links.ts";
import { NewRepositories } from "./new-repositories.ts";
import { NoSandbox } from "./none.ts";
import { type PlaceholderHolder, Placeholders } from "./placeholders.ts";
import { isWithin, realPath } from "./real-path.ts";
import { type LimitOptions, Limits } from "./resource-limits.ts";
import { type SandboxOptions, type SandboxSpec, sandboxSpec } from "./sandbox-options.ts";
import { type InheritedPipe, startScript } from "./start-script.ts";
import type { TrustedPath } from "./trusted-base.ts";
import { isSeen } from "./view.ts";

export interface ConfineOptions extends SandboxOptions, LimitOptions {}

/** Where it starts. */
export interface ShellPlace {
  readonly id: string;
  /** The shell's own directory. */
  readonly dir: string;
  readonly holder: PlaceholderHolder;
}

export interface StartRequest {
  readonly workspace: string;
  readonly workingDir: string;
  /** What is to run inside. */
  readonly argv: readonly string[];
  /** What it needs of the state root. */
  readonly readable: readonly string[];
  readonly writable?: readonly string[];
  readonly pipes?: readonly InheritedPipe[];
  readonly isInit?: boolean;
  /** Whether a process was started since the last call: without one, no repository can have been made. */
  readonly hasForked?: () => boolean;
}

/** What has to be on disk before the start, and undone after the end. */
export interface ConfinedStart {
  readonly script: string;
  readonly files: readonly { readonly name: string; readonly content: Buffer }[];
  /** Remarks on what has happened since the last look. */
  look(): string[];
  /** Returns remarks on what became of it. */
  end(): string[];
}

/** What a sandbox is told about the nacre it belongs to, and others. */
export interface SandboxPlace {
  /** Of this manager first, then others that are to be hidden. */
  readonly stateRoots: readonly [string, ...string[]];
  /** Of every nacre that runs now: looked up for each start. */
  readonly livingRoots: () => readonly string[];
  /** What runs outside of the sandbox, or is read there. */
  readonly trusted: () => readonly TrustedPath[];
  /** This process. */
  readonly self: PlaceholderHolder;
  readonly isAlive: (holder: PlaceholderHolder) => boolean;
}

/** How the shells of one workspace are wrapped. */
type Tried =
  | { readonly driver: SandboxDriver; readonly spec: SandboxSpec }
  | { readonly driver: NoSandbox; readonly spec?: undefined };

/** A user who asks for one of these believes to be protected. */
function refuseWithoutSandbox({ network, hide = [] }: SandboxOptions): void {
  const idle = network === "none" ? 'network "none"' : hide.length > 0 ? "hide" : undefined;
  if (idle === undefined) return;
  throw new NacreError(
    "invalid_input",
    `The option ${idle} only counts in a sandbox, and none is asked for: set sandbox (--sandbox) to "read-only" or "workspace-write", or leave it out.`,
  );
}

export class Sandbox {
  readonly #options: ConfineOptions;
  readonly #place: SandboxPlace;
  readonly #limits: Limits;
  readonly #placeholders: Placeholders;
  readonly #bubblewrap: SandboxDriver;
  readonly #repositories = new RepositoryFinder();
  /** By workspace, once tried. */
  readonly #tried = new Map<string, Tried>();

  constructor(options: ConfineOptions, place: SandboxPlace) {
    const { sandbox = "off" } = options;
    if (!SANDBOX_PROFILES.includes(sandbox)) {
      throw new NacreError(
        "invalid_input",
        `Unknown sandbox ${JSON.stringify(sandbox)}: use ${SANDBOX_PROFILES.join(", ")}.`,
      );
    }
    if (sandbox === "off") refuseWithoutSandbox(options);
    this.#options = options;
    this.#place = place;
    const dir = join(place.stateRoots[0], ROOT_NAMES.sandbox);
    this.#limits = new Limits(options);
    this.#placeholders = new Placeholders(join(dir, "placeholders"), place);
    this.#bubblewrap = new Bubblewrap(dir);
  }

  /** Whether anything at all is asked for. */
  get isNeeded(): boolean {
    return this.#isAsked || this.#limits.isAny;
  }

  /** After a crash of the process that should have done it. */
  tidy(): void {
    if (this.#isAsked) this.#placeholders.tidy();
    this.#limits.tidy();
  }

  /** Tries the sandbox for this workspace, once; throws where it is refused. */
  async prepare(workspace: string): Promise<Confinement["driver"]> {
    const known = this.#tried.get(workspace) ?? (await this.#try(workspace));
    this.#tried.set(workspace, known);
    return known.driver.name;
  }

  /** Whether a command of this workspace can stand in a directory. */
  isSeen(directory: string, workspace: string): boolean {
    const spec = this.#tried.get(workspace)?.spec;
    return spec === undefined || isSeen(directory, spec);
  }

  /** Of a workspace that has been prepared. */
  start(
    request: StartRequest,
    place: ShellPlace,
  ): { readonly start: ConfinedStart; readonly confinement: Confinement } {
    const tried = this.#tried.get(request.workspace);
    if (!tried)
      throw new NacreError("internal", `The sandbox was not tried for ${shownPath(request.workspace)}.`);
    const roots = tried.spec?.writable ?? [];
    const found = this.#repositories.find(roots);
    const wrapped = this.#wrap(tried, { request, place, found });
    const isConfined = wrapped.confinement.driver !== "none";
    const limits = this.#limits.isAny
      ? this.#limits.plan(place.id, isConfined ? OWN_PROCESSES_COUNT : 0)
      : undefined;
    const { confinement, descriptors, placeholders } = wrapped;
    const made = new NewRepositories(this.#repositories, roots, found);
    const links = new LinkWatch(wrapped.links);
    const { hasForked = () => true } = request;
    const start: ConfinedStart = {
      script: startScript({
        limits,
        wrapped: isConfined ? wrapped : undefined,
        dir: place.dir,
        pipes: request.pipes ?? [],
      }),
      files: descriptors.flatMap(fileOf),
      look: () => [
        ...(limits?.look() ?? []),
        ...(hasForked() ? [...made.remarks(), ...links.remarks()] : []),
      ],
      end: () => {
        if (placeholders.length > 0) this.#placeholders.release(place.holder);
        return [...(limits?.end() ?? []), ...made.remarks(), ...links.remarks()];
      },
    };
    const notEnforced = [...confinement.notEnforced, ...(limits?.notEnforced ?? [])];
    return { start, confinement: { ...confinement, notEnforced } };
  }

  get #isAsked(): boolean {
    return (this.#options.sandbox ?? "off") !== "off";
  }

  async #try(workspace: string): Promise<Tried> {
    const { stateRoots } = this.#place;
    const spec = sandboxSpec(this.#options, { workspace, stateRoots, trusted: this.#place.trusted() });
    if (!spec) return { driver: new NoSandbox([]) };
    const probed = await this.#bubblewrap.probe(spec, this.#placeholders.held());
    if (probed.ok) return { driver: this.#bubblewrap, spec };
    if (this.#options.allowUnsandboxed) {
      const missing = `the sandbox "${spec.profile}": ${probed.why}. ${probed.fix}`;
      return { driver: new NoSandbox([missing]) };
    }
    throw new NacreError(
      "spawn_failed",
      `The sandbox "${spec.profile}" cannot be enforced here, so nothing was run: ${probed.why}. ${probed.fix} To run without it all the same, set allowUnsandboxed (--allow-unsandboxed).`,
    );
  }

  #wrap(
    tried: Tried,
    {
      request,
      place,
      found,
    }: { readonly request: StartRequest; readonly place: ShellPlace; readonly found: FoundRepositories },
  ): WrappedStart {
    const plan = (isPlaceholder: WrapPlan["isPlaceholder"]) => ({
      repositories: found.repositories,
      argv: request.argv,
      workingDir: request.workingDir,
      isPlaceholder,
      shown: {
        stateRoot: this.#place.stateRoots[0],
        readable: request.readable,
        writable: request.writable ?? [],
      },
      ...(request.isInit ? { isInit: true } : {}),
    });
    if (!tried.spec)
      return tried.driver.wrap(
        undefined,
        plan(() => false),
      );
    const { driver } = tried;
    const spec = hidingRoots(tried.spec, this.#place.livingRoots());
    return this.#placeholders.hold(place.holder, (isPlaceholder) => driver.wrap(spec, plan(isPlaceholder)));
  }
}

/** Of a root that a living host uses, what must not be seen. */
const PARTS_OF_ROOT = [ROOT_NAMES.keepers, ROOT_NAMES.shells, ROOT_NAMES.sandbox];

function hidingRoots(spec: SandboxSpec, living: readonly string[]): SandboxSpec {
  const more = living.map(realPath).filter((root) => !spec.stateRoots.includes(root));
  if (more.length === 0) return spec;
  const isWorkedIn = (root: string) =>
    [spec.workspace, ...spec.writable].some((path) => isWithin(path, root));
  const hidden = more.flatMap((root) =>
    isWorkedIn(root) ? PARTS_OF_ROOT.map((part) => join(root, part)) : [root],
  );
  return { ...spec, stateRoots: [...spec.stateRoots, ...hidden] };
}

/** bwrap itself, and the first process of its world. */
const OWN_PROCESSES_COUNT = 2;

function fileOf({ file, content }: Descriptor): { name: string; content: Buffer }[] {
  return content ? [{ name: file, content }] : [];
}
