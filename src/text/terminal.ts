// Converts terminal output to the plain lines that a person would see: without escape sequences, and with only the
// final state of each redrawn line (`\r`, backspace). Cursor movement between lines is not emulated. Takes linear time.
// The input must consist of whole lines, because the parts of a split line would be converted separately.

/** Idempotent: the result contains nothing that this function would change. */
export function plainText(text: string): string {
  if (!hasControl(text)) return text;
  return text.split("\n").map(plainLine).join("\n");
}

function plainLine(line: string): string {
  if (!hasControl(line)) return line;
  const screen = new ScreenLine();
  for (let at = 0, end = 0; at < line.length; at = end) {
    end = tokenEnd(line, at);
    apply(screen, line.slice(at, end));
  }
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

const UNPRINTABLE = /^[\x00-\x08\x0e-\x1f\x7f-\x9f]/;

/**
 * The end of the printable text or of the control sequence at this position. Without repeated classes: decision 19. The
 * search for the end of a sequence stops at the next sequence of its kind, so that all of them take linear time.
 */
function tokenEnd(line: string, at: number): number {
  const printable = nextMatch(CONTROL, line, at);
  if (printable > at) return printable;
  const parameters = endOf(CSI, line, at);
  if (parameters !== undefined) {
    const final = nextMatch(NO_INTERMEDIATE, line, nextMatch(NO_PARAMETER, line, parameters));
    return endOf(CSI_FINAL, line, final) ?? final;
  }
  // A string sequence (title, link, image) without an end on its line loses only its introducer, because removing the
  // rest of the line would lose output.
  const content = endOf(STRING, line, at);
  const stringEnd = content && endOf(STRING_END, line, nextMatch(STRING_STOP, line, content));
  if (stringEnd !== undefined) return stringEnd;
  if (line.charCodeAt(at) !== ESC) return at + 1;
  // A character set has characters between the escape and its last character; a lone escape has neither.
  const last = nextMatch(NO_INTERMEDIATE, line, at + 1);
  return endOf(ESCAPE_FINAL, line, last) ?? last;
}

function hasControl(text: string): boolean {
  return nextMatch(CONTROL, text, 0) < text.length;
}

/** The first position from `from` on that the global pattern matches, or the length of the line. */
function nextMatch(pattern: RegExp, line: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(line)?.index ?? line.length;
}

/** The end of the match of the sticky pattern at this position. */
function endOf(pattern: RegExp, line: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex : undefined;
}

const CONTROL = /[\x00-\x08\x0d-\x1f\x7f-\x9f]/g;
// CSI: colors, cursor, erase.
const CSI = /\x1b\[|\x9b/y;
const NO_PARAMETER = /[^0-?]/g;
const NO_INTERMEDIATE = /[^ -/]/g;
const CSI_FINAL = /[@-~]/y;
// OSC, DCS, SOS, PM, APC.
const STRING = /\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]/y;
const STRING_STOP = /[\x07\x1b\x90\x98\x9c-\x9f]/g;
const STRING_END = /\x07|\x1b\\|\x9c/y;
const ESCAPE_FINAL = /[0-~]/y;

const ERASES_TO_END = /^(?:\x1b\[|\x9b)0?[JK]$/;
const ERASES_LINE = /^(?:\x1b\[|\x9b)2K$/;
const MOVES_TO_START = /^(?:\x1b\[|\x9b)[01]?G$/;
