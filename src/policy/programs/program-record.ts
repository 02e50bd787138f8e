// The record of a program: everything the policy knows about it. The other files in this folder define the records,
// grouped by family. facts.ts, run-program.ts, printed-output.ts and the rules use them, so each fact is written once.

import type { Where } from "../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import type { DataOrigin, Flow } from "../shell-model/flow.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import type { RawEffect } from "./effect.ts";
import type { Options, OptionTable } from "./read-options.ts";

export interface Program {
  /** Its options and the meaning of their values. A file in `writes` is an effect; a text in `runs` is judged. */
  readonly options?: OptionTable;
  /** Effects on files that `options` does not describe. */
  readonly effects?: (options: Options, command: EffectiveCommand) => readonly RawEffect[];
  /**
   * Set if the program prints or passes on the content of every file in its arguments. A function selects some of the
   * arguments.
   */
  readonly reads?: true | ((command: EffectiveCommand) => readonly Field[]);
  /** The static file server that this call starts, or null. */
  readonly serves?: (command: EffectiveCommand) => FileServer | null;
  /** Set if it runs a program that its operands name. */
  readonly wraps?: Wrapper;
  /** Walks the other commands that the program runs. Returns null if these do not determine the program's output. */
  readonly runs?: RunsCommand;
  readonly prints?: Prints;
  /** Set if it sends data to another host. */
  readonly sends?: Sends;
  /** Records the files that it creates, for later commands in the same text. */
  readonly leaves?: (options: Options, command: EffectiveCommand, scope: Scope) => void;
  /** Set for an agent, which runs commands under its own rules. */
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

/** Where a wrapper's arguments contain the inner command. The wrapper's own options end at the first operand. */
export interface Wrapper {
  /** The number of operands before the inner argv: a duration, a lock file, a new root. */
  readonly skip?: number;
  /** Whether `NAME=value` may precede the inner program. */
  readonly assigns?: boolean;
  /** Flags with which the wrapper only prints something. */
  readonly asks?: string;
  /** Options that name the directory of the inner program. */
  readonly directory?: string;
  /** Options whose value is shell text. */
  readonly text?: string;
  /** Set if a shell runs the remaining arguments: joined by spaces, or each as a separate text. */
  readonly joins?: "blanks" | "lines";
  /** Subcommands before an inner command: `uv run`, `ip netns exec`. Other subcommands run no command. */
  readonly verb?: readonly string[];
  /** Matches an operand that may precede the inner argv. */
  readonly may?: RegExp;
  /** Whether the inner program is the name of a package: `npx rimraf@5`. */
  readonly packages?: boolean;
}

export interface Prints {
  /** The output, if it is certain without running the program. */
  readonly text?: (command: EffectiveCommand, scope: Scope, where: Where) => string | null;
  /** Every possible output, if there are several. */
  readonly alternatives?: (command: EffectiveCommand) => readonly string[];
  /** The origins of the output. */
  readonly origins?: (command: EffectiveCommand) => readonly DataOrigin[];
  /**
   * Whether the program prints only some lines of its input: a list of all processes is not complete any more after
   * such a program.
   */
  readonly selects?: (command: EffectiveCommand) => boolean;
}

/** A server that lets every program that can connect to it read whole directories. */
export interface FileServer {
  readonly directories: readonly Field[];
  /** Addresses with or without a port, or a port alone. Empty if the server listens on all interfaces by default. */
  readonly addresses: readonly Field[];
}

export interface Sends {
  /** Whether this call sends local data that is not a secret. */
  readonly uploads?: (options: Options, command: EffectiveCommand) => boolean;
  /** Whether this call sends the files that it reads. @default always */
  readonly sendsFiles?: (command: EffectiveCommand) => boolean;
  /** Matches the arguments before a key that authenticates the connection. The program does not send this key. */
  readonly identity?: RegExp;
  /** Matches arguments that connect a shell to the other host. */
  readonly givesShell?: RegExp;
}

/** The options that let an agent act without asking its user. */
export interface Agent {
  /** Flags with their dashes. A single letter also matches inside a cluster of short options. */
  readonly flags?: readonly string[];
  /** Options, each with the values that skip approvals. */
  readonly values?: Readonly<Record<string, RegExp>>;
  /** Options whose value is a list: separate arguments, or one argument joined by commas. */
  readonly lists?: Readonly<Record<string, RegExp>>;
  /** Variables, each with the values that skip approvals. */
  readonly variables?: Readonly<Record<string, RegExp>>;
  /** Subcommands that change its settings. */
  readonly verbs?: RegExp;
}

/** Programs of one kind. */
export interface ProgramFamily {
  /**
   * Well-known programs. The policy does not treat them as possible wrappers, and the profile `cautious` does not ask
   * about them. If such a program has no record, only system files, credentials and similar paths in its arguments
   * are protected.
   */
  readonly familiar: string;
  /** Records by name. Several names with the same record are separated by spaces. */
  readonly programs: Readonly<Record<string, Program>>;
}
