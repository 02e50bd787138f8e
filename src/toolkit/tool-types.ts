// The tools of each dialect by name: the arguments of their calls and the metadata of their results.
import type { BashArguments } from "../execution/bash.ts";
import type { BashInputArguments, BashInputMetadata } from "../execution/bash-input.ts";
import type { BashOutputArguments } from "../execution/bash-output.ts";
import type { BashMetadata } from "../execution/bash-result.ts";
import type { Dialect } from "../execution/endings.ts";
import type { KillShellArguments, KillShellMetadata } from "../execution/kill-shell.ts";
import type { ModesArguments, ModesMetadata } from "../execution/modes.ts";
import type { BashOutputMetadata } from "../execution/output-metadata.ts";
import type { PreviewArguments, PreviewToolMetadata } from "../execution/preview-tool.ts";
import type { EditArguments, EditMetadata } from "../files/edit-tool.ts";
import type { GlobArguments, GlobMetadata } from "../files/glob-tool.ts";
import type { GrepArguments, GrepMetadata } from "../files/grep-tool.ts";
import type { ReadArguments, ReadMetadata } from "../files/read-tool.ts";
import type { WriteArguments, WriteMetadata } from "../files/write-tool.ts";

interface ShellsTools {
  readonly Bash: { readonly arguments: BashArguments; readonly metadata: BashMetadata };
  readonly BashOutput: { readonly arguments: BashOutputArguments; readonly metadata: BashOutputMetadata };
  readonly KillShell: { readonly arguments: KillShellArguments; readonly metadata: KillShellMetadata };
}

interface ModesTools {
  readonly bash: { readonly arguments: ModesArguments; readonly metadata: ModesMetadata };
}

interface FileTools {
  readonly Read: { readonly arguments: ReadArguments; readonly metadata: ReadMetadata };
  readonly Write: { readonly arguments: WriteArguments; readonly metadata: WriteMetadata };
  readonly Edit: { readonly arguments: EditArguments; readonly metadata: EditMetadata };
  readonly Glob: { readonly arguments: GlobArguments; readonly metadata: GlobMetadata };
  readonly Grep: { readonly arguments: GrepArguments; readonly metadata: GrepMetadata };
}

interface TerminalTools {
  readonly BashInput: { readonly arguments: BashInputArguments; readonly metadata: BashInputMetadata };
}

interface PreviewTools {
  readonly Preview: { readonly arguments: PreviewArguments; readonly metadata: PreviewToolMetadata };
}

type AllTools = ShellsTools & ModesTools & FileTools & TerminalTools & PreviewTools;

/** The names of the tools that the option `with` turns on. */
export type OptionalToolName = keyof FileTools | keyof TerminalTools | keyof PreviewTools;

/** The names of the tools of a dialect. */
export type ToolName<D extends Dialect = Dialect> = D extends "modes" ? keyof ModesTools : keyof ShellsTools;

export type ArgumentsOf<N extends string> = N extends keyof AllTools ? AllTools[N]["arguments"] : unknown;

export type MetadataOf<N extends string> = N extends keyof AllTools
  ? AllTools[N]["metadata"]
  : Record<string, unknown>;
