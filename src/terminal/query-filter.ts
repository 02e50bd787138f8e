// Filters a program's output for a person's terminal. Removes sequences that would make the terminal send an answer or
// change more than its screen: queries for the cursor, colors and terminal type, clipboard access, and window
// operations. The host that owns the shell has already answered the queries, and a second answer would look like typed
// text.
import { TERMINAL_SEQUENCE_MAX_BYTES } from "../support/limits.ts";

const ESC = 0x1b;
const BEL = 0x07;
const BACKSLASH = 0x5c;

export class QueryFilter {
  /** The start of a sequence that was incomplete at the end of the last piece. */
  #held = Buffer.alloc(0);

  push(bytes: Buffer): Buffer {
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes;
    this.#held = Buffer.alloc(0);
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = all.indexOf(ESC); at >= 0; at = all.indexOf(ESC, at)) {
      const end = sequenceEnd(all, at);
      if (end === undefined) {
        if (all.length - at > TERMINAL_SEQUENCE_MAX_BYTES) break;
        parts.push(all.subarray(from, at));
        this.#held = Buffer.from(all.subarray(at));
        return Buffer.concat(parts);
      }
      if (isUnwanted(all.toString("latin1", at, end))) {
        parts.push(all.subarray(from, at));
        from = end;
      }
      at = end;
    }
    // Return a copy: the reader reuses its buffer for the next piece.
    return Buffer.concat([...parts, all.subarray(from)]);
  }
}

/** The position after the sequence that begins at `at`; undefined if it is not complete. */
function sequenceEnd(bytes: Buffer, at: number): number | undefined {
  const kind = bytes[at + 1];
  if (kind === undefined) return undefined;
  const introducer = String.fromCharCode(kind);
  if (introducer === "[") return controlEnd(bytes, at + 2);
  return "]PX^_".includes(introducer) ? stringEnd(bytes, at + 2) : at + 2;
}

/** The end of a control sequence: parameters and a final byte. A control character ends the sequence early. */
function controlEnd(bytes: Buffer, from: number): number | undefined {
  for (let end = from; end < bytes.length; end++) {
    const byte = bytes[end] ?? 0;
    if (byte >= 0x40 && byte <= 0x7e) return end + 1;
    if (byte < 0x20) return end;
  }
  return undefined;
}

/** The end of a string that is terminated by BEL or ESC \\. */
function stringEnd(bytes: Buffer, from: number): number | undefined {
  for (let end = from; end < bytes.length; end++) {
    if (bytes[end] === BEL) return end + 1;
    if (bytes[end] !== ESC) continue;
    const next = bytes[end + 1];
    return next === undefined ? undefined : end + (next === BACKSLASH ? 2 : 0);
  }
  return undefined;
}

const UNWANTED = [
  /^\x1b\[[?>=]?[\d;]*[cn]$/, // device attributes, status and cursor reports
  /^\x1b\[>[\d;]*q$/, // version
  /^\x1b\[\??[\d;]*\$p$/, // modes
  /^\x1b\[\?[\d;]*u$/, // keyboard protocol
  /^\x1b\[[\d;]*[tx]$/, // window operations and terminal parameters
  /^\x1b\](?:52|9|777|50|7|633|1337);/, // clipboard, notifications, extensions
  /^\x1b\][\d;]*;?\?/, // colors
  /^\x1b\](?:4|5|10|11|12|13|14|15|16|17|18|19)[\d;]*;\?/,
  /^\x1bP(?:[\d;]*\$q|\+q|[\d;]*!\|)/, // settings and capabilities
  /^\x1bZ$/,
] as const;

function isUnwanted(sequence: string): boolean {
  return UNWANTED.some((pattern) => pattern.test(sequence));
}
