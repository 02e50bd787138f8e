// The tools of each dialect by name: the arguments of their calls and the metadata of their results.
import type { BashArguments } from "../execution/bash.ts";
import type { BashOutputArguments, BashOutputMetadata } from "../execution/bash-output.ts";
import type { BashMetadata } from "../execution/bash-result.ts";
import type { Dialect } from "../execution/endings.ts";
import type { KillShellArguments, KillShellMetadata } from "../execution/kill-shell.ts";
import type { ModesArguments, ModesMetadata } from "../execution/modes.ts";

interface ShellsTools {
  readonly Bash: { readonly arguments: BashArguments; readonly metadata: BashMetadata };
  readonly BashOutput: { readonly arguments: BashOutputArguments; readonly metadata: BashOutputMetadata };
  readonly KillShell: { readonly arguments: KillShellArguments; readonly metadata: KillShellMetadata };
}

interface ModesTools {
  readonly bash: { readonly arguments: ModesArguments; readonly metadata: ModesMetadata };
}

type AllTools = ShellsTools & ModesTools;

/** The names of the tools of a dialect. */
export type ToolName<D extends Dialect = Dialect> = D extends "modes" ? keyof ModesTools : keyof ShellsTools;

export type ArgumentsOf<N extends string> = N extends keyof AllTools ? AllTools[N]["arguments"] : unknown;

export type MetadataOf<N extends string> = N extends keyof AllTools
  ? AllTools[N]["metadata"]
  : Record<string, unknown>;
