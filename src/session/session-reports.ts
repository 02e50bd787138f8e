// Parses the reports that a session's bash sends through its report pipe: it is ready, a command has ended, its state
// is saved. Each field ends with NUL, and a newline follows the last field.

import { isAscii } from "node:buffer";
import { textOfBytes } from "../support/path-text.ts";
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
      /** The disabled builtins, if the command can have changed them. */
      readonly disabled?: readonly string[];
      /** The traps that are off between commands, as `trap -p` prints them. */
      readonly traps: string;
      /** The state that changes the meaning of the next command, if the command can have changed it. */
      readonly meaning?: MeaningReport;
    }
  | {
      readonly kind: "saved";
      readonly token: string;
      readonly number: number;
      /** The error message of bash if it could not write the file. */
      readonly problem?: string;
    }
  /** From the process that starts the bashes in a sandbox: the inner PID of a bash, and how that bash ended. */
  | { readonly kind: "forked"; readonly token: string; readonly innerPid: number }
  | { readonly kind: "ended"; readonly token: string; readonly code: number };

const FIELDS: Readonly<Record<string, number>> = {
  ...{ b: 3, s: 3, P: 3, E: 3 },
  // A command has ended. The report has none (r), the variables (v) or all (R) of the state that changes the next
  // command.
  ...{ r: 7, v: 7 + MEANING_FIELDS_COUNT, R: 7 + MEANING_FIELDS_COUNT },
};

/** Receives every report of the session. The token of a report says which bash sent it. */
export interface ReportListener {
  take(report: Report): void;
}

export class ReportReader {
  readonly #listeners: Iterable<ReportListener>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(listeners: Iterable<ReportListener>) {
    this.#listeners = listeners;
  }

  push(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (let report = this.#take(); report; report = this.#take())
      for (const listener of this.#listeners) listener.take(report);
  }

  /** Traps, and whatever else bash prints about itself, precede the report they belong to. */
  #take(): Report | undefined {
    const first = this.#rest.indexOf(0);
    if (first < 0) return undefined;
    const kind = String.fromCharCode(this.#rest[first - 1] ?? 0);
    const count = FIELDS[kind];
    if (count === undefined) {
      // Another process wrote to the pipe.
      this.#rest = this.#rest.subarray(first + 1);
      return this.#take();
    }
    let end = first;
    for (let fields = 1; fields < count; fields++) {
      end = this.#rest.indexOf(0, end + 1);
      if (end < 0) return undefined;
    }
    // A newline follows the last field.
    if (this.#rest.length <= end + 1) return undefined;
    const [head = "", ...fields] = decode(this.#rest.subarray(0, end)).split("\0");
    this.#rest = this.#rest.subarray(end + 2);
    return reportOf(kind, head.slice(0, -1), fields);
  }
}

function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : textOfBytes(bytes);
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
  if (kind === "s") return { kind: "saved", token, number: Number(number), ...problemOf(printed) };
  const ran = {
    kind: "ran",
    token,
    number: Number(number),
    code: Number.parseInt(code, 10),
    flags,
    cwd,
    expandsAliases: aliases === "A",
    isBroken: code.endsWith("!"),
  } as const;
  if (kind === "r") return { ...ran, traps: silencedTraps(printed) };
  if (kind === "v") return { ...ran, traps: silencedTraps(printed), meaning: { fields } };
  const disabled = disabledBuiltins(piecesOf(printed));
  return { ...ran, disabled, traps: silencedTraps(printed), meaning: { printed, fields } };
}

/** The first message of bash, without its position: `bash: line 3: declare: write error: …`. */
function problemOf(printed: string): { readonly problem?: string } {
  const [first = ""] = printed.split("\n");
  return first === "" ? {} : { problem: first.replace(/^.*?bash: (?:line \d+: )?/, "") };
}
