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

const QUOTES = "'\"`";
const SPECIAL: ReadonlySet<string> = new Set([...QUOTES, "{", "}", "[", "(", ")", "<"]);

/** How many characters the parser looks at in the time of one step. */
const CHARS_PER_STEP = 128;
/** Pairs of here-documents that begin on one line, which are compared with each other, in the time of one step. */
const PAIRS_PER_STEP = 256;

/** An arithmetic expression is looked through at a fraction of the cost of `$[`, and only to its end. */
const ARITHMETIC_SHARE = 1 / 8;

interface Brace {
  readonly at: number;
  /** What it stands in. */
  readonly inside: number;
}

class LookAheads {
  #steps = 0;
  #brackets = 0;
  #hereDocs = 0;
  /** The open braces of what may be one word. */
  #braces: Brace[] = [];
  /** Substitutions that are open, and quotes that have come an odd number of times: a word goes on over its line. */
  #open = 0;
  #odd = 0;

  meet(char: string, at: number, last: string): void {
    const quote = QUOTES.indexOf(char);
    if (quote >= 0) this.#odd ^= 1 << quote;
    else if (char === "{") this.#braces.push({ at, inside: this.#inside() });
    else if (char === "}") this.#close(at, last);
    else if (char === ")") this.#open = Math.max(0, this.#open - 1);
    else this.#opening(char + last);
  }

  #opening(pair: string): void {
    if (pair === "[$") this.#brackets += 1;
    else if (pair === "((") this.#brackets += ARITHMETIC_SHARE;
    else if (pair === "<<") this.#hereDocs += 1;
    else if (pair === "($" || pair === "(<" || pair === "(>") this.#open += 1;
  }

  /** What may be quoted closes nothing that may not be. */
  #close(at: number, last: string): void {
    const brace = this.#braces.at(-1);
    if (last === "\\" || brace?.inside !== this.#inside()) return;
    this.#braces.pop();
    this.#look(brace.at, at);
  }

  endLine(at: number, continues: boolean): void {
    this.#steps += this.#hereDocs ** 2 / PAIRS_PER_STEP;
    this.#hereDocs = 0;
    if (!continues && this.#inside() === 0) this.#endWords(at);
  }

  total(length: number): number {
    this.endLine(length, false);
    this.#endWords(length);
    return this.#steps + (this.#brackets * length) / 2 / CHARS_PER_STEP;
  }

  #inside(): number {
    return this.#odd * 2 + (this.#open > 0 ? 1 : 0);
  }

  #endWords(end: number): void {
    for (const { at } of this.#braces) this.#look(at, end);
    this.#braces = [];
  }

  #look(from: number, to: number): void {
    this.#steps += (to - from) / CHARS_PER_STEP;
  }
}
