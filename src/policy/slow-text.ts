// What parsing a text costs, told beforehand. A few shapes make the parser look ahead over the same characters again
// and again: a megabyte of opening braces would take it minutes. Ordinary text costs nothing here.

/** In steps of the budget. Knows nothing of bash but its brackets and quotes, and takes the worse of two readings. */
export function lookAheadSteps(text: string): number {
  const count = new LookAheads();
  let last = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? "";
    if (char === "\n") count.endLine(i, last === "\\");
    else if (SPECIAL.has(char)) count.meet(char, i, last);
    last = char;
  }
  return count.total(text.length);
}

const QUOTES: ReadonlySet<string> = new Set(["'", '"', "`"]);
const SPECIAL: ReadonlySet<string> = new Set([...QUOTES, "{", "}", "[", "(", ")", "<"]);

/** How many characters the parser looks at in the time of one step. */
const CHARS_PER_STEP = 128;
/** Pairs of here-documents that begin on one line, which are compared with each other, in the time of one step. */
const PAIRS_PER_STEP = 256;

class LookAheads {
  #steps = 0;
  #brackets = 0;
  #hereDocs = 0;
  /** Where the open braces of what may be one word stand; null for those of a parameter. */
  #braces: (number | null)[] = [];
  /** Substitutions that are open, and quotes that have come an odd number of times: a word goes on over its line. */
  #open = 0;
  readonly #odd = new Set<string>();

  meet(char: string, at: number, last: string): void {
    if (QUOTES.has(char)) {
      if (!this.#odd.delete(char)) this.#odd.add(char);
    } else if (char === "{") this.#braces.push(last === "$" ? null : at);
    else if (char === "}") {
      // What may be quoted closes nothing.
      if (last !== "\\" && !this.#isInside()) this.#look(this.#braces.pop() ?? at, at);
    } else if (char === "[") {
      if (last === "$") this.#brackets += 1;
    } else if (char === "<") {
      if (last === "<") this.#hereDocs += 1;
    } else if (char === ")") this.#open = Math.max(0, this.#open - 1);
    else if (last === "$" || last === "<" || last === ">") this.#open += 1;
  }

  endLine(at: number, continues: boolean): void {
    this.#steps += this.#hereDocs ** 2 / PAIRS_PER_STEP;
    this.#hereDocs = 0;
    if (!continues && !this.#isInside()) this.#endWords(at);
  }

  total(length: number): number {
    this.endLine(length, false);
    this.#endWords(length);
    return this.#steps + (this.#brackets * length) / 2 / CHARS_PER_STEP;
  }

  #isInside(): boolean {
    return this.#open > 0 || this.#odd.size > 0;
  }

  #endWords(at: number): void {
    for (const brace of this.#braces) this.#look(brace ?? at, at);
    this.#braces = [];
  }

  #look(from: number, to: number): void {
    this.#steps += (to - from) / CHARS_PER_STEP;
  }
}
