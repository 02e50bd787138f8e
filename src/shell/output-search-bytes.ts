// Counts lines in bytes, four bytes at a time: counting takes most of the time of a search for plain text. Removes
// colors from many lines at once, which is much faster than plainText for each line.

export interface Skimmed {
  /** A last line without a newline counts. */
  readonly lines: number;
  /** Whether a byte other than tab and newline is a control character, so that plainText can change a line. */
  readonly hasControls: boolean;
}

const NEWLINE = 0x0a;

export function skimBlock(bytes: Buffer): Skimmed {
  let newlines = 0;
  let hasControls = false;
  const visit = (at: number) => {
    const byte = bytes[at] ?? 0;
    if (byte === NEWLINE) newlines++;
    else if (byte < SPACE && !isHarmless(byte)) hasControls = true;
  };
  const head = Math.min(bytes.length, -bytes.byteOffset & 3);
  for (let at = 0; at < head; at++) visit(at);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2);
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as number;
    // The top bit of each byte below 0x20 is set.
    if (((word - 0x20202020) & ~word & 0x80808080) === 0) continue;
    const at = head + index * 4;
    visit(at);
    visit(at + 1);
    visit(at + 2);
    visit(at + 3);
  }
  for (let at = head + words.length * 4; at < bytes.length; at++) visit(at);
  const isOpen = bytes.length > 0 && bytes[bytes.length - 1] !== NEWLINE;
  return { lines: newlines + (isOpen ? 1 : 0), hasControls };
}

export function countLines(bytes: Buffer): number {
  return skimBlock(bytes).lines;
}

/**
 * The lines without colors and other sequences that plainText removes, and without the CR of CRLF. undefined if a line
 * needs plainText, because the line is redrawn or has other control characters. `target` is at least as long as
 * `bytes`.
 */
export function withoutColors(bytes: Buffer, target: Buffer): Buffer | undefined {
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    if (byte >= SPACE || byte === NEWLINE || isHarmless(byte)) {
      target[length++] = byte;
      at++;
    } else {
      const end = byte === ESC ? sequenceEnd(bytes, at) : byte === CARRIAGE_RETURN ? returnEnd(bytes, at) : 0;
      if (end === 0) return undefined;
      at = end;
    }
  }
  return target.subarray(0, length);
}

const SPACE = 0x20;
const ESC = 0x1b;
const CARRIAGE_RETURN = 0x0d;
const [BRACKET, ZERO, FIRST_FINAL, LAST_FINAL] = [0x5b, 0x30, 0x40, 0x7e];
const [MOVE, ERASE] = [0x47, 0x4b];

/** Tab, vertical tab and form feed. */
function isHarmless(byte: number): boolean {
  return byte === 0x09 || byte === 0x0b || byte === 0x0c;
}

/** The position after the carriage return; 0 if text follows it on the same line. */
function returnEnd(bytes: Buffer, at: number): number {
  return at + 1 === bytes.length || bytes[at + 1] === NEWLINE ? at + 1 : 0;
}

/** The end of the sequence that begins at `at`; 0 if the sequence can do more than color text. */
function sequenceEnd(bytes: Buffer, at: number): number {
  const kind = bytes[at + 1] ?? 0;
  // A character set, as in the reset of many programs: ESC ( B.
  if (kind >= SPACE && kind < ZERO) return isBetween(bytes[at + 2], ZERO, LAST_FINAL) ? at + 3 : 0;
  if (kind !== BRACKET) return 0;
  let end = at + 2;
  while (isBetween(bytes[end], ZERO, FIRST_FINAL - 1)) end++;
  while (isBetween(bytes[end], SPACE, ZERO - 1)) end++;
  const final = bytes[end];
  if (!isBetween(final, FIRST_FINAL, LAST_FINAL) || final === MOVE) return 0;
  // If the line is not redrawn, the cursor is at its end. Erasing the rest of the line then changes nothing.
  const erasesMore = final === ERASE && end > at + 2 && bytes[at + 2] !== ZERO;
  return erasesMore ? 0 : end + 1;
}

function isBetween(byte: number | undefined, least: number, most: number): boolean {
  return byte !== undefined && byte >= least && byte <= most;
}
