// The meaning of command names at one point of a script: functions whose text is unknown, names bound to a path, shell
// options. Functions and aliases with a known text are in the Scope. An object of this class is immutable, so that
// scopes can share it.

export class Names {
  /** Functions whose text is unknown, and builtins that were disabled. */
  readonly redefined: ReadonlySet<string>;
  /** Names bound to a path, by `hash -p` or an earlier lookup. */
  readonly hashed: ReadonlyMap<string, string>;
  /** The names in BASHOPTS; null if unknown. */
  readonly options: ReadonlySet<string> | null;

  constructor(
    redefined: ReadonlySet<string>,
    hashed: ReadonlyMap<string, string>,
    options: ReadonlySet<string> | null,
  ) {
    this.redefined = redefined;
    this.hashed = hashed;
    this.options = options;
  }

  withRedefined(name: string): Names {
    return new Names(new Set([...this.redefined, name]), this.hashed, this.options);
  }

  withoutRedefined(name: string): Names {
    if (!this.redefined.has(name)) return this;
    const left = [...this.redefined].filter((one) => one !== name);
    return new Names(new Set(left), this.hashed, this.options);
  }

  withHashed(name: string, path: string): Names {
    return new Names(this.redefined, new Map([...this.hashed, [name, path]]), this.options);
  }

  withoutHashed(): Names {
    return this.hashed.size === 0 ? this : new Names(this.redefined, new Map(), this.options);
  }

  withOption(name: string, isOn: boolean): Names {
    const options = new Set(this.options);
    if (isOn) options.add(name);
    else options.delete(name);
    return new Names(this.redefined, this.hashed, options);
  }

  /** The union of both, for the code after two branches. */
  with(other: Names): Names {
    if (other === this) return this;
    const redefined = new Set([...this.redefined, ...other.redefined]);
    const options =
      this.options || other.options ? new Set([...(this.options ?? []), ...(other.options ?? [])]) : null;
    return new Names(redefined, new Map([...this.hashed, ...other.hashed]), options);
  }
}

export const NO_NAMES = new Names(new Set(), new Map(), null);
