// What the policy knows about one program. The families beside this file hold one record per program; facts.ts,
// run-program.ts, printed-output.ts and the rules ask the record, so that each fact about a program is written once.

import type { Where } from "../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Runner } from "../shell-model/command.ts";
import type { DataOrigin, Flow } from "../shell-model/flow.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import type { RawEffect } from "./effect.ts";
import type { Options, OptionTable } from "./read-options.ts";

export interface Program {
  /** Its options, and what their values are. A file in `writes` is an effect, a text in `runs` is judged. */
  readonly options?: OptionTable;
  /** What it does to files besides that. */
  readonly effects?: (options: Options, command: EffectiveCommand) => readonly RawEffect[];
  /** Whether it shows or passes on the content of every file that its arguments name. */
  readonly reads?: boolean;
  /** It runs the program that its operands name. */
  readonly wraps?: Wrapper;
  /** Runs what else it would run. null: nothing, or nothing that decides what it prints. */
  readonly runs?: RunsCommand;
  readonly prints?: Prints;
  /** It sends data to another host. */
  readonly sends?: Sends;
  /** Notes what it leaves in files, for later commands of the same text. */
  readonly leaves?: (options: Options, command: EffectiveCommand, scope: Scope) => void;
  /** An agent that runs commands by rules of its own. */
  readonly agent?: Agent;
  readonly isShell?: boolean;
  /** Whether a version may follow its name: `python3.12`. */
  readonly isVersioned?: boolean;
}

export type RunsCommand = (
  command: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
  table: OptionTable,
) => Flow | null;

/** Where the inner command stands. Its options are read up to the first operand. */
export interface Wrapper {
  /** Operands before the inner argv: a duration, a lock file, a new root. */
  readonly skip?: number;
  /** `NAME=value` before the inner program. */
  readonly assigns?: boolean;
  /** Flags with which it prints something and runs nothing. */
  readonly asks?: string;
  /** Options that name the directory of the inner program. */
  readonly directory?: string;
  /** Options whose value is shell text. */
  readonly text?: string;
  /** Whether the rest is given to a shell: joined by blanks, or each argument as a text of its own. */
  readonly joins?: "blanks" | "lines";
  /** Only after this first operand, or these: `uv run`, `ip netns exec`. */
  readonly verb?: readonly string[];
  /** An operand that may precede the inner argv. */
  readonly may?: RegExp;
  /** Whether the inner program is named by its package: `npx rimraf@5`. */
  readonly packages?: boolean;
}

export interface Prints {
  /** The text, where it is certain without running the program. */
  readonly text?: (command: EffectiveCommand, scope: Scope, where: Where) => string | null;
  /** Every text it may print, where there are several. */
  readonly alternatives?: (command: EffectiveCommand) => readonly string[];
  /** Where the text comes from. */
  readonly origins?: (command: EffectiveCommand) => readonly DataOrigin[];
  /** Whether it selects some lines of its input, so that a list of all processes is one no more. */
  readonly selects?: (command: EffectiveCommand) => boolean;
}

export interface Sends {
  /** Whether this call sends local data that is no secret. */
  readonly uploads?: (options: Options, command: EffectiveCommand) => boolean;
  /** Fits the arguments before a key that opens the connection: such a key is used, not sent. */
  readonly identity?: RegExp;
  /** Fits arguments that connect a shell to the other host. */
  readonly givesShell?: RegExp;
}

/** The switches with which an agent acts without asking its user. */
export interface Agent {
  /** Flags, as they are written. A single letter also counts inside a cluster. */
  readonly flags?: readonly string[];
  /** Options and the values that do it. */
  readonly values?: Readonly<Record<string, RegExp>>;
  /** Options whose values are lists of words, each an argument of its own or joined by commas. */
  readonly lists?: Readonly<Record<string, RegExp>>;
  /** Variables and the values that do it. */
  readonly variables?: Readonly<Record<string, RegExp>>;
  /** The first words that change its settings. */
  readonly verbs?: RegExp;
}

/** Programs of one kind. */
export interface ProgramFamily {
  /**
   * Programs that are common enough not to be taken for an unknown wrapper: the profile `cautious` does not ask about
   * them. One without a record has no effect that the policy models.
   */
  readonly familiar: string;
  /** By name; several names of one program are separated by blanks. */
  readonly programs: Readonly<Record<string, Program>>;
}
