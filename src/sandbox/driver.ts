// The interface of a sandbox driver. A driver tests whether it works on this machine, with cause and fix if it does not, and
// wraps the arguments of a start.
import type { Confinement } from "../engine/confinement.ts";
import type { FoundRepository } from "./find-repositories.ts";
import type { GuardedLink } from "./guarded-links.ts";
import type { Placeholder } from "./placeholders.ts";
import type { SandboxSpec } from "./sandbox-options.ts";

export type ProbeResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: string; readonly fix: string };

/** The parts of this host's state root that a shell needs. The rest is hidden. */
export interface VisibleState {
  readonly stateRoot: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

export interface WrapPlan {
  /** The program and its arguments inside the sandbox. */
  readonly argv: readonly string[];
  /** Absolute. */
  readonly workingDir: string;
  readonly visibleState: VisibleState;
  /** Repositories in writable directories, except those at their tops. */
  readonly repositories: readonly FoundRepository[];
  /** Whether a path exists only as a placeholder for another sandbox (placeholders.ts). */
  readonly isPlaceholder: (path: string) => boolean;
  /** The program is PID 1 of its namespace: it ignores signals without a handler, and reaps orphans. */
  readonly isInit?: boolean;
}

/** A file that is open in the program. */
export interface Descriptor {
  readonly fd: number;
  readonly mode: "read" | "write";
  /** An absolute path, or the name of a file in the shell's own directory. */
  readonly file: string;
  /** The content to write before the start. */
  readonly content?: Buffer;
}

export interface WrappedStart {
  readonly argv: readonly string[];
  readonly descriptors: readonly Descriptor[];
  readonly placeholders: readonly Placeholder[];
  /** Links that a command can replace; compared after it. */
  readonly links: readonly GuardedLink[];
  readonly confinement: Confinement;
}

export interface SandboxDriver {
  readonly name: Confinement["driver"];
  /** Tests the sandbox with the arguments of a real command. */
  probe(spec: SandboxSpec, isPlaceholder: WrapPlan["isPlaceholder"]): Promise<ProbeResult>;
  wrap(spec: SandboxSpec, plan: WrapPlan): WrappedStart;
}
