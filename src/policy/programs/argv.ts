// Reading options the way getopt does: clusters, values apart or attached, long names cut short, `--`, any order.

import type { Field } from "../shell-model/command.ts";

/** Which options of a program take a value. Everything else that starts with a dash is a flag. */
export interface OptionTable {
  /** Short options with a value, as letters. */
  readonly values?: string;
  /** Long options with a value, without the dashes. */
  readonly longValues?: readonly string[];
  /** Long flags that may be abbreviated, without the dashes. */
  readonly long?: readonly string[];
  /** Whether options end at the first operand, as for a wrapper. */
  readonly stopAtOperand?: boolean;
  /** Whether words like -exec are one option, not a cluster. */
  readonly singleDash?: boolean;
}

export interface Options {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly Field[]>;
  readonly operands: readonly Field[];
}

export function readOptions(args: readonly Field[], table: OptionTable = {}): Options {
  const reader = new OptionReader(args, table);
  return reader.read();
}

class OptionReader {
  readonly #flags = new Set<string>();
  readonly #values = new Map<string, Field[]>();
  readonly #operands: Field[] = [];
  readonly #args: readonly Field[];
  readonly #table: OptionTable;
  #at = 0;

  constructor(args: readonly Field[], table: OptionTable) {
    this.#args = args;
    this.#table = table;
  }

  read(): Options {
    for (; this.#at < this.#args.length; this.#at++) {
      const arg = this.#args[this.#at];
      if (!arg) break;
      if (arg.text === "--" || (this.#table.stopAtOperand && !isOption(arg.text))) {
        // Not by spreading: so many arguments would not fit on the stack.
        for (const operand of this.#args.slice(arg.text === "--" ? this.#at + 1 : this.#at))
          this.#operands.push(operand);
        break;
      }
      if (!isOption(arg.text)) this.#operands.push(arg);
      else if (arg.text.startsWith("--") || this.#table.singleDash) this.#long(arg);
      else this.#cluster(arg);
    }
    return { flags: this.#flags, values: this.#values, operands: this.#operands };
  }

  #long(arg: Field): void {
    const body = arg.text.replace(/^--?/, "");
    const equal = body.indexOf("=");
    const name = this.#fullName(equal < 0 ? body : body.slice(0, equal));
    if (equal >= 0) this.#put(name, { ...arg, text: body.slice(equal + 1) });
    else if (this.#table.longValues?.includes(name)) this.#put(name, this.#next());
    else this.#flags.add(name);
  }

  #cluster(arg: Field): void {
    for (let i = 1; i < arg.text.length; i++) {
      const letter = arg.text[i] ?? "";
      if (!this.#table.values?.includes(letter)) {
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
    const { long = [], longValues = [] } = this.#table;
    // Go and its like know no abbreviations: `-v` is no `-vettool`.
    if (this.#table.singleDash) return name;
    if (name === "" || long.includes(name) || longValues.includes(name)) return name;
    return [...long, ...longValues].find((full) => full.startsWith(name)) ?? name;
  }
}

function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith("-");
}

/** Whether any of the names was given. */
export function hasFlag(options: Options, ...names: readonly string[]): boolean {
  return names.some((name) => options.flags.has(name));
}

/** All values of the names. */
export function valuesOf(options: Options, ...names: readonly string[]): readonly Field[] {
  return names.flatMap((name) => options.values.get(name) ?? []);
}
