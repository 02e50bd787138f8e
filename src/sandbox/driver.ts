// What confines commands. To add a driver: say whether it works here, with the cause and the fix where it does
// not, and turn a start into another one, as words and never as a line for a shell.
import type { Confinement } from "../engine/confinement.ts";
import type { FoundRepository } from "./find-repositories.ts";
import type { GuardedLink } from "./guarded-links.ts";
import type { Placeholder } from "./placeholders.ts";
import type { SandboxSpec } from "./sandbox-options.ts";

export type ProbeResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: string; readonly fix: string };

/** What a shell needs of our own state root, which is hidden otherwise. */
export interface Shown {
  readonly stateRoot: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

export interface WrapPlan {
  /** What is to run inside. */
  readonly argv: readonly string[];
  /** Absolute. */
  readonly workingDir: string;
  readonly shown: Shown;
  /** In writable directories, besides those at their tops. */
  readonly repositories: readonly FoundRepository[];
  /** Whether something is there only because another sandbox needs it (placeholders.ts). */
  readonly isPlaceholder: (path: string) => boolean;
  /** It is the first process of its own world: it takes no signal it does not want, and takes in orphans. */
  readonly isInit?: boolean;
}

/** A file to be opened for the program. */
export interface Descriptor {
  readonly fd: number;
  readonly mode: "read" | "write";
  /** An absolute path, or the name of a file in the shell's own directory. */
  readonly file: string;
  /** Written there before the start. */
  readonly content?: Buffer;
}

export interface WrappedStart {
  readonly argv: readonly string[];
  readonly descriptors: readonly Descriptor[];
  readonly placeholders: readonly Placeholder[];
  /** Links that a command can replace, to be compared after it. */
  readonly links: readonly GuardedLink[];
  readonly confinement: Confinement;
}

export interface SandboxDriver {
  readonly name: Confinement["driver"];
  /** Whether it works, tried with the arguments a command would get. */
  probe(spec: SandboxSpec, isPlaceholder: WrapPlan["isPlaceholder"]): Promise<ProbeResult>;
  wrap(spec: SandboxSpec, plan: WrapPlan): WrappedStart;
}
