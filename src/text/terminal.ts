// Converts terminal output to the plain lines that a person would see: without escape sequences, and with only the
// final state of each redrawn line (`\r`, backspace). Cursor movement between lines is not emulated. Takes linear time.
// The input must consist of whole lines, because the parts of a split line would be converted separately.

/** Idempotent: the result contains nothing that this function would change. */
export function plainText(text: string): string {
  if (!NEEDS_WORK.test(text)) return text;
  return text.split("\n").map(plainLine).join("\n");
}

function plainLine(line: string): string {
  if (!NEEDS_WORK.test(line)) return line;
  const screen = new ScreenLine();
  for (const [token] of line.matchAll(TOKENS)) apply(screen, token);
  return screen.text();
}

function apply(screen: ScreenLine, token: string): void {
  const first = token.charCodeAt(0);
  if (token === "\r") screen.returnToStart();
  else if (token === "\b") screen.stepBack();
  else if (token === "\0") screen.write("\u2400");
  else if (first === ESC || first === C1_CSI) applyControl(screen, token);
  else if (!UNPRINTABLE.test(token)) screen.write(token);
}

function applyControl(screen: ScreenLine, sequence: string): void {
  if (ERASES_TO_END.test(sequence)) screen.eraseToEnd();
  else if (ERASES_LINE.test(sequence)) screen.eraseAll();
  else if (MOVES_TO_START.test(sequence)) screen.returnToStart();
}

/**
 * One line of the screen. Text after a carriage return replaces the whole line. Overwriting single cells would leave
 * the end of a longer earlier state after a shorter progress bar.
 */
class ScreenLine {
  // Store several strings instead of one: dropping the last characters of one long string again and again would take
  // quadratic time.
  readonly #runs: string[] = [];
  #isAtStart = false;
  #stepsBack = 0;

  write(text: string): void {
    if (this.#isAtStart) this.eraseAll();
    for (; this.#stepsBack > 0; this.#stepsBack--) this.#dropLast();
    this.#runs.push(text);
  }

  returnToStart(): void {
    this.#isAtStart = true;
    this.#stepsBack = 0;
  }

  stepBack(): void {
    if (!this.#isAtStart) this.#stepsBack++;
  }

  eraseToEnd(): void {
    if (this.#isAtStart) this.eraseAll();
    for (; this.#stepsBack > 0; this.#stepsBack--) this.#dropLast();
  }

  eraseAll(): void {
    this.#runs.length = 0;
    this.#isAtStart = false;
    this.#stepsBack = 0;
  }

  text(): string {
    return this.#runs.join("");
  }

  #dropLast(): void {
    const run = this.#runs.pop();
    if (run === undefined) return;
    const isPair = /[\ud800-\udbff][\udc00-\udfff]$/.test(run.slice(-2));
    const rest = run.slice(0, isPair ? -2 : -1);
    if (rest !== "") this.#runs.push(rest);
  }
}

const ESC = 0x1b;
const C1_CSI = 0x9b;

const NEEDS_WORK = /[\x00-\x08\x0d-\x1f\x7f-\x9f]/;
const UNPRINTABLE = /^[\x00-\x08\x0e-\x1f\x7f-\x9f]/;

// Each alternative begins with its own introducer, and no repeated class contains an introducer, so no text is scanned
// twice. A string sequence (title, link, image) without an end on its line loses only its introducer, because removing
// the rest of the line would lose output.
const TOKENS = new RegExp(
  [
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?", // CSI: colors, cursor, erase
    "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\x07\\x1b\\x90\\x98\\x9c-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)", // OSC, DCS, SOS, PM, APC
    "\\x1b[ -/]+[0-~]?", // character sets
    "\\x1b[0-~]?", // two-character sequences, or a lone escape
    "[\\x00-\\x08\\x0d-\\x1a\\x1c-\\x1f\\x7f-\\x9f]",
    "[^\\x00-\\x08\\x0d-\\x1f\\x7f-\\x9f]+",
  ].join("|"),
  "g",
);

const ERASES_TO_END = /^(?:\x1b\[|\x9b)0?[JK]$/;
const ERASES_LINE = /^(?:\x1b\[|\x9b)2K$/;
const MOVES_TO_START = /^(?:\x1b\[|\x9b)[01]?G$/;
