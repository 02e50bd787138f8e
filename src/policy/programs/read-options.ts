// Reads options as getopt does: clusters, separate or attached values, abbreviated long names, `--`, any order.

import type { Field } from "../shell-model/command.ts";

/**
 * The options of a program. Each list contains names without dashes, separated by spaces. A word that starts with a
 * dash contains several short options: `"-oT output"` stands for -o, -T and --output. An option that is in no list is a
 * flag.
 */
export interface OptionTable {
  /** The value is not written, run or evaluated. */
  readonly values?: string;
  /** The value is a file that the program writes. */
  readonly writes?: string;
  /** The value is shell text that the program runs, although the purpose of the program is not to run commands. */
  readonly runs?: string;
  /** The value is a command, and running it is the purpose of the program. */
  readonly starts?: string;
  /** The value is code in the program's own language. */
  readonly code?: string;
  /** Long flags that may be abbreviated. */
  readonly flags?: string;
  /** Whether `-exec` is one long option, not a cluster of the short options -e, -x, -e and -c. */
  readonly singleDash?: boolean;
}

export interface Options {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly Field[]>;
  readonly operands: readonly Field[];
}

const NO_OPTIONS: OptionTable = {};

/** @param stops "at-operand" if options end at the first operand, as they do for a wrapper. */
export function readOptions(
  args: readonly Field[],
  table: OptionTable = NO_OPTIONS,
  stops: "at-operand" | "at-end" = "at-end",
): Options {
  return new OptionReader(args, namesOf(table), stops === "at-operand").read();
}

/** Whether the table names the option: as a flag, or as an option with a value. */
export function isListedOption(
  table: OptionTable,
  name: string,
  as: "flag" | "with-value" = "flag",
): boolean {
  const { withValue, long } = namesOf(table);
  return as === "with-value" ? withValue.has(name) : long.includes(name) && !withValue.has(name);
}

/** Whether any of the listed options was given. */
export function hasFlag({ flags }: Options, list: string): boolean {
  return namesIn(list).some((name) => flags.has(name));
}

/** All values of the listed options. */
export function valuesOf({ values }: Options, list: string): readonly Field[] {
  if (values.size === 0) return [];
  return namesIn(list).flatMap((name) => values.get(name) ?? []);
}

/** Separates the last word, with all its possible expansions, from the operands before it. */
export function splitAtLastWord(operands: readonly Field[]): {
  readonly before: readonly Field[];
  readonly last: readonly Field[];
} {
  const ends = operands.findLastIndex(({ isAlternative }) => isAlternative !== true);
  // If there is only one word, treat its possible expansions as separate words: `cp $PAIR`.
  const at = ends > 0 ? ends : operands.length - 1;
  return operands.length === 0
    ? { before: [], last: [] }
    : { before: operands.slice(0, at), last: operands.slice(at) };
}

const LISTS = new Map<string, readonly string[]>();

/** The names of a list. The cache cannot grow without limit, because all lists are constants in the code. */
function namesIn(list: string): readonly string[] {
  const known = LISTS.get(list);
  if (known) return known;
  const words = list.split(/\s+/).filter((word) => word !== "");
  const names = words.flatMap((word) => (word.startsWith("-") ? [...word.slice(1)] : [word]));
  LISTS.set(list, names);
  return names;
}

interface TableNames {
  readonly withValue: ReadonlySet<string>;
  /** Long names, flags first: an abbreviation means the first name that it matches. */
  readonly long: readonly string[];
  readonly singleDash: boolean;
}

const TABLES = new WeakMap<OptionTable, TableNames>();

function namesOf(table: OptionTable): TableNames {
  const known = TABLES.get(table);
  if (known) return known;
  const { flags = "", values = "", writes = "", runs = "", starts = "", code = "" } = table;
  const withValue = [values, writes, runs, starts, code].flatMap(namesIn);
  const long = [...namesIn(flags), ...withValue.filter((name) => name.length > 1)];
  const names = { withValue: new Set(withValue), long, singleDash: table.singleDash === true };
  TABLES.set(table, names);
  return names;
}

class OptionReader {
  readonly #flags = new Set<string>();
  readonly #values = new Map<string, Field[]>();
  readonly #operands: Field[] = [];
  readonly #args: readonly Field[];
  readonly #names: TableNames;
  readonly #stopsAtOperand: boolean;
  #at = 0;

  constructor(args: readonly Field[], names: TableNames, stopsAtOperand: boolean) {
    this.#args = args;
    this.#names = names;
    this.#stopsAtOperand = stopsAtOperand;
  }

  read(): Options {
    for (; this.#at < this.#args.length; this.#at++) {
      const arg = this.#args[this.#at];
      if (!arg) break;
      if (arg.text === "--" || (this.#stopsAtOperand && !isOption(arg.text))) {
        // Use a loop: spreading this many arguments could overflow the stack.
        for (const operand of this.#args.slice(arg.text === "--" ? this.#at + 1 : this.#at))
          this.#operands.push(operand);
        break;
      }
      if (!isOption(arg.text)) this.#operands.push(arg);
      else if (arg.text.startsWith("--") || this.#names.singleDash) this.#long(arg);
      else this.#cluster(arg);
    }
    return { flags: this.#flags, values: this.#values, operands: this.#operands };
  }

  #long(arg: Field): void {
    const body = arg.text.replace(/^--?/, "");
    const equal = body.indexOf("=");
    const name = this.#fullName(equal < 0 ? body : body.slice(0, equal));
    if (equal >= 0) this.#put(name, { ...arg, text: body.slice(equal + 1) });
    else if (this.#takesValue(name)) this.#put(name, this.#next());
    else this.#flags.add(name);
  }

  /** `--o` is not a short option, even if `-o` takes a value. */
  #takesValue(name: string): boolean {
    return (name.length > 1 || this.#names.singleDash) && this.#names.withValue.has(name);
  }

  #cluster(arg: Field): void {
    for (let i = 1; i < arg.text.length; i++) {
      const letter = arg.text[i] ?? "";
      if (!this.#names.withValue.has(letter)) {
        this.#flags.add(letter);
        continue;
      }
      const attached = arg.text.slice(i + 1);
      this.#put(letter, attached === "" ? this.#next() : { ...arg, text: attached });
      return;
    }
  }

  #next(): Field | undefined {
    this.#at += 1;
    return this.#args[this.#at];
  }

  #put(name: string, value: Field | undefined): void {
    this.#flags.add(name);
    if (!value) return;
    const known = this.#values.get(name);
    if (known) known.push(value);
    else this.#values.set(name, [value]);
  }

  #fullName(name: string): string {
    // Go programs accept no abbreviations: `-v` does not mean `-vettool`.
    if (name === "" || this.#names.singleDash) return name;
    const { long } = this.#names;
    return long.includes(name) ? name : (long.find((full) => full.startsWith(name)) ?? name);
  }
}

function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith("-");
}
