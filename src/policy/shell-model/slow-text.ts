// Estimates the cost of parsing a text. A few shapes make the parser scan the same characters repeatedly: a megabyte of
// opening braces would take minutes. Ordinary text costs nothing here.

/** The cost in steps of the budget. Recognizes only brackets and quotes, and assumes the higher cost if unsure. */
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

/** The number of characters that the parser scans per step. */
const CHARS_PER_STEP = 128;
/** The number of pairs of here-documents on one line that the parser compares per step. */
const PAIRS_PER_STEP = 256;

/** Scanning an arithmetic expression costs a fraction of scanning `$[`, and ends with the expression. */
const ARITHMETIC_SHARE = 1 / 8;

interface Brace {
  readonly at: number;
  /** The open quotes and substitutions around the brace, as `#inside()` encodes them. */
  readonly inside: number;
}

class LookAheads {
  #steps = 0;
  #brackets = 0;
  #hereDocs = 0;
  /** The open braces in the current word. */
  #braces: Brace[] = [];
  /** The number of open substitutions. A word with an open substitution or an open quote continues on the next line. */
  #open = 0;
  /** One bit per kind of quote: set if it has occurred an odd number of times. */
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

  /** A brace that may be quoted does not close a brace outside the quotes. */
  #close(at: number, last: string): void {
    const brace = this.#braces.at(-1);
    if (last === "\\" || brace?.inside !== this.#inside()) return;
    this.#braces.pop();
    this.#count(brace.at, at);
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
    for (const { at } of this.#braces) this.#count(at, end);
    this.#braces = [];
  }

  #count(from: number, to: number): void {
    this.#steps += (to - from) / CHARS_PER_STEP;
  }
}
