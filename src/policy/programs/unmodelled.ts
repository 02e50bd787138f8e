// Arguments that no program record explains. If such an argument names a protected path, the policy assumes that the
// program may write to this path, unless the program is known only to read its arguments.

import { POLICY_ARGUMENTS_MAX_CHARS, POLICY_PATH_MAX_CHARS } from "../../support/limits.ts";
import { isBuiltinName } from "../shell-model/builtin-names.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import type { RawEffect } from "./effect.ts";
import { MAY_WRITE } from "./may-write.ts";
import type { Program } from "./program-record.ts";
import { isKnownProgram, programNamed } from "./programs.ts";
import { isListedOption, type OptionTable } from "./read-options.ts";
import { INPUT_OPTION, isElsewhere, isReader, OUTPUT_OPTION } from "./readers.ts";

/** What the policy knows about the arguments of a program. */
type Knowledge =
  /** The program only reads them. */
  | "reads"
  /** The arguments are paths on another machine. */
  | "elsewhere"
  /** The record explains its operands and some of its options. */
  | "operands"
  /** A well-known program without such a record. */
  | "familiar"
  | "nothing";

/** The arguments that the program may write to, and the values of options with a common output name. */
export function unmodelledEffects(
  command: EffectiveCommand,
  known: readonly RawEffect[],
): readonly RawEffect[] {
  const { program, args, via } = command;
  if (args.length === 0 || !args.some(({ text }) => couldNamePath(text))) return NONE;
  if (program === "" || isBuiltinName(program) || via.some((one) => REMOTE.has(one))) return NONE;
  const record = programNamed(program);
  if (record.wraps || record.agent || command.isDefined) return NONE;
  const knowledge = knowledgeOf(program, record);
  if (lengthOf(args) > POLICY_ARGUMENTS_MAX_CHARS) return NONE;
  const explained = new Set(known.map(({ target }) => target.text));
  return new ArgumentReader(args, record, knowledge).found
    .flatMap((argument) => effectsOf(argument, knowledge))
    .filter(({ target }) => !explained.has(target.text));
}

const NONE: readonly RawEffect[] = [];

function lengthOf(args: readonly Field[]): number {
  let chars = 0;
  for (const { text } of args) chars += text.length + 1;
  return chars;
}

/** Programs whose inner commands run on another machine. */
const REMOTE: ReadonlySet<string> = new Set(["ssh", "kubectl", "oc"]);

const couldNamePath = (text: string): boolean => text.includes("/") || /^[.~]/.test(text);

function knowledgeOf(program: string, { reads, effects, isShell, runs, options }: Program): Knowledge {
  if (isElsewhere(program)) return "elsewhere";
  if (effects) return "operands";
  if (reads || isReader(program)) return isShell || options?.code !== undefined ? "familiar" : "reads";
  return isShell || runs || options || isKnownProgram(program) ? "familiar" : "nothing";
}

interface Argument {
  /** The option before the argument, if the argument is or may be its value. */
  readonly option: string | null;
  readonly field: Field;
  /** Whether the option and its value are one word. */
  readonly isAttached: boolean;
}

/** The values of options that the record does not list, and the operands. */
class ArgumentReader {
  readonly #found: Argument[] = [];
  readonly #table: OptionTable;
  /** The option that may take the next word as its value; null if there is none. */
  #option: string | null = null;
  /**
   * Whether the next operand is the script of an interpreter or a shell: the program runs its script but does not
   * write to it.
   */
  #isScript: boolean;
  /** Whether operands are files on this machine. */
  #isLocal: boolean;
  #operands = 0;

  constructor(args: readonly Field[], { options = {}, isShell }: Program, knowledge: Knowledge) {
    this.#table = options;
    this.#isScript =
      isShell === true || (options.code !== undefined && !args.some(({ text }) => text === "-m"));
    this.#isLocal = knowledge !== "elsewhere";
    for (const field of args) this.#read(field);
  }

  get found(): readonly Argument[] {
    return this.#found;
  }

  #read(field: Field): void {
    const { text } = field;
    const [, long, attached] = /^--?([\w-]{2,}|\w)(?:=([\s\S]*))?$/.exec(text) ?? [];
    const [, short, value] = long === undefined ? (/^-(\w)([/~.][\s\S]*)$/.exec(text) ?? []) : [];
    const name = long ?? short;
    if (name !== undefined) this.#readOption(name, attached ?? value, field);
    else if (text.startsWith("-") && text.length > 1) this.#option = null;
    else this.#readOperand(field);
  }

  #readOption(name: string, value: string | undefined, field: Field): void {
    const hasValue = isListedOption(this.#table, name, "with-value");
    const isListed = hasValue || isListedOption(this.#table, name);
    this.#option = null;
    if (value === undefined) this.#option = hasValue ? SKIPPED : isListed ? null : name;
    else if (!isListed)
      this.#found.push({ option: name, field: { ...field, text: value }, isAttached: true });
  }

  #readOperand(field: Field): void {
    const option = this.#option;
    this.#option = null;
    if (option === SKIPPED) return;
    this.#operands += 1;
    if (this.#operands <= VERB_OPERANDS && TRANSFERS.test(field.text)) this.#isLocal = true;
    if (this.#isScript && option === null) this.#isScript = false;
    else if (this.#isLocal || option !== null) this.#found.push({ option, field, isAttached: false });
  }
}

/** How many operands to search for the verb of a client. Values of options may precede the verb. */
const VERB_OPERANDS = 3;
/** Stands for a listed option, whose value is the next word. */
const SKIPPED = " ";
/** The verbs of clients that copy something from another machine to this one. */
const TRANSFERS =
  /^(cp|copy|copyto|sync|mv|move|moveto|rsync|mirror|download|pull|fetch|export|dump|backup|restore|save|unpack|extract|scp|get-object|clone|checkout|init|new|create-app)$/;

function effectsOf({ option, field, isAttached }: Argument, knowledge: Knowledge): readonly RawEffect[] {
  const paths = pathsIn(field.text);
  if (paths.length === 0) return NONE;
  const isLong = option !== null && option.length > 1;
  const isOutput =
    option !== null && OUTPUT_OPTION.test(option) && (isLong || /^(familiar|nothing)$/.test(knowledge));
  if (isOutput) return paths.map((text) => ({ kind: "write", target: { ...field, text }, how: "output" }));
  if (knowledge === "reads") return NONE;
  if (knowledge === "elsewhere" && option !== null && !/^[oODd]$/.test(option)) return NONE;
  // The record explains the operands. Only the value of an unlisted option is unknown.
  if (knowledge === "operands" && !isAttached) return NONE;
  const how =
    option !== null && INPUT_OPTION.test(option)
      ? MAY_WRITE.input
      : knowledge === "nothing" || (knowledge === "elsewhere" && option !== null && option !== "d")
        ? MAY_WRITE.unknown
        : MAY_WRITE.familiar;
  return paths.map((text) => ({ kind: "may-write", target: { ...field, text }, how }));
}

/** The paths in a value: the value itself, or the parts of `key=path,other=path`, `@path` and `file:path`. */
function pathsIn(value: string): readonly string[] {
  if (value.length > POLICY_PATH_MAX_CHARS || !couldBePath(value)) return [];
  if (/^\w[\w+.-]*:\/\//.test(value)) return value.startsWith("file://") ? [value.slice(7)] : [];
  return (
    value
      .split(",")
      .map((part) => part.slice(part.lastIndexOf("=") + 1).replace(/^[@<>+|]+/, ""))
      .map((part) => part.replace(/^(file|path|open|create|dir|out|output|log):(?=[/~.])/i, ""))
      // Two slashes start a build target such as //pkg:name.
      .filter((part) => couldNamePath(part) && !/^([\w.@-]+:|\/\/)/.test(part))
  );
}

const couldBePath = (value: string): boolean => !/\s/.test(value) && /[/~]|^\./.test(value);
