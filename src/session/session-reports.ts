// Parses the reports that a session's bash sends through its report pipe: it is ready, a command has ended, its state
// is saved. Each field ends with NUL, and a newline follows the last field.

import { textOfBytes } from "../support/path-text.ts";
import { elapsedMs } from "./saved-states.ts";
import { MEANING_FIELDS_COUNT, type MeaningReport, silencedTraps } from "./session-meaning.ts";
import { disabledBuiltins, piecesOf } from "./state-pieces.ts";

export type Report =
  /** bash has restored its state and takes commands. */
  | { readonly kind: "ready"; readonly token: string; readonly expandsAliases: boolean }
  | {
      readonly kind: "ran";
      readonly token: string;
      readonly number: number;
      readonly code: number;
      /** `$-` */
      readonly flags: string;
      readonly cwd: string;
      readonly expandsAliases: boolean;
      /** Whether bash has lost builtins that the harness needs and cannot enable them again. */
      readonly isBroken: boolean;
      /** Whether there is a trap on CHLD. */
      readonly trapsChildren: boolean;
      /** The disabled builtins, if the command may have changed them. */
      readonly disabled?: readonly string[];
      /** The traps that are off between commands, as `trap -p` prints them. */
      readonly traps: string;
      /** The state that changes the meaning of the next command, if this command may have changed that state. */
      readonly meaning?: MeaningReport;
    }
  | {
      readonly kind: "saved";
      readonly token: string;
      readonly number: number;
      /** The error message of bash if it could not write the file. */
      readonly problem?: string;
      /** How long the save took; undefined if bash has lost EPOCHREALTIME. */
      readonly tookMs: number | undefined;
    }
  /** bash has forked a saver with this PID; 0 if the fork failed. In a sandbox, this is the inner PID. */
  | { readonly kind: "saving"; readonly token: string; readonly number: number; readonly pid: number }
  /** From the supervisor of a sandbox: the inner PID of a bash, and how that bash ended. */
  | { readonly kind: "forked"; readonly token: string; readonly innerPid: number }
  | { readonly kind: "ended"; readonly token: string; readonly code: number };

const FIELDS: Readonly<Record<string, number>> = {
  ...{ b: 3, s: 5, f: 4, P: 3, E: 3 },
  // The end of a command. Of the state that changes the meaning of the next command, the report contains nothing (r),
  // the variables (v) or everything (R).
  ...{ r: 7, v: 7 + MEANING_FIELDS_COUNT, R: 7 + MEANING_FIELDS_COUNT },
};

/** Receives every report of the session. The token of a report says which bash sent it. */
export interface ReportListener {
  take(report: Report): void;
}

export class ReportReader {
  readonly #listeners: Iterable<ReportListener>;
  /** The bytes not parsed yet, as latin1: searching a string takes less time than searching a buffer. */
  #rest = "";

  constructor(listeners: Iterable<ReportListener>) {
    this.#listeners = listeners;
  }

  /** Parses the reports in these bytes. Copies the bytes: the caller reuses its buffer. */
  push(bytes: Buffer, length = bytes.length): void {
    this.#rest += bytes.toString("latin1", 0, length);
    for (let report = this.#take(); report; report = this.#take())
      for (const listener of this.#listeners) listener.take(report);
  }

  /**
   * Takes the next report. Traps, and everything else that bash prints about itself, precede the report to which they
   * belong.
   */
  #take(): Report | undefined {
    const rest = this.#rest;
    const first = rest.indexOf("\0");
    if (first < 0) return undefined;
    const kind = rest[first - 1] ?? "";
    const count = FIELDS[kind];
    if (count === undefined) {
      // Another process wrote to the pipe.
      this.#rest = rest.slice(first + 1);
      return this.#take();
    }
    let end = first;
    for (let fields = 1; fields < count; fields++) {
      end = rest.indexOf("\0", end + 1);
      if (end < 0) return undefined;
    }
    // A newline follows the last field.
    if (rest.length <= end + 1) return undefined;
    const fields = decode(rest.slice(first + 1, end)).split("\0");
    this.#rest = rest.slice(end + 2);
    return reportOf(kind, decode(rest.slice(0, first - 1)), fields);
  }
}

function decode(bytes: string): string {
  return /[^\0-\x7f]/.test(bytes) ? textOfBytes(Buffer.from(bytes, "latin1")) : bytes;
}

function reportOf(
  kind: string,
  printed: string,
  [token = "", number = "", ...rest]: readonly string[],
): Report {
  const [code = "", flags = "", cwd = "", aliases = "", ...fields] = rest;
  if (kind === "b") return { kind: "ready", token, expandsAliases: number === "A" };
  if (kind === "P") return { kind: "forked", token, innerPid: Number(number) };
  if (kind === "E") return { kind: "ended", token, code: Number(number) };
  if (kind === "f") return { kind: "saving", token, number: Number(number), pid: Number(code) };
  if (kind === "s") {
    const tookMs = elapsedMs(code, flags);
    return { kind: "saved", token, number: Number(number), tookMs, ...problemOf(printed) };
  }
  const ran = {
    kind: "ran",
    token,
    number: Number(number),
    code: Number.parseInt(code, 10),
    flags,
    cwd,
    expandsAliases: aliases === "A",
    isBroken: code.endsWith("!"),
    trapsChildren: false,
  } as const;
  if (kind === "r") return { ...ran, traps: silencedTraps(printed) };
  if (kind === "v") return { ...ran, traps: silencedTraps(printed), meaning: { fields } };
  // Only this kind of report lists the traps. A session with a trap sends it after every command.
  const pieces = piecesOf(printed);
  const trapsChildren = pieces.some((piece) => /^trap .* (?:SIG)?CHLD\n$/s.test(piece));
  const disabled = disabledBuiltins(pieces);
  return { ...ran, disabled, trapsChildren, traps: silencedTraps(printed), meaning: { printed, fields } };
}

/** The first error message of bash, without the position at its start: `bash: line 3: declare: write error: …`. */
function problemOf(printed: string): { readonly problem?: string } {
  const [first = ""] = printed.split("\n");
  return first === "" ? {} : { problem: first.replace(/^.*?bash: (?:line \d+: )?/, "") };
}
