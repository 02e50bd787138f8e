// What a session's bash says through its report fifo: that it is there, how a command ended, and that its
// state is saved. Fields end with NUL, a report with a line end behind the last field. Bytes in, reports out.

import { textOfBytes } from "../support/path-text.ts";
import { disabledBuiltins, piecesOf } from "./bash-pieces.ts";
import { MEANING_FIELDS_COUNT, type MeaningReport, silencedTraps } from "./session-meaning.ts";

export type Report =
  /** It has restored its state and takes commands. */
  | { readonly kind: "born"; readonly token: string; readonly expandsAliases: boolean }
  | {
      readonly kind: "ran";
      readonly token: string;
      readonly number: number;
      readonly code: number;
      /** `$-` */
      readonly flags: string;
      readonly cwd: string;
      readonly expandsAliases: boolean;
      /** It has lost builtins that the harness needs, for good. */
      readonly isBroken: boolean;
      /** The builtins that the command leaves disabled, if it can have changed that. */
      readonly disabled?: readonly string[];
      /** Those that are off between commands, as `trap -p` prints them. */
      readonly traps: string;
      /** What the command may have changed of the meaning of the next one. */
      readonly meaning?: MeaningReport;
    }
  | {
      readonly kind: "saved";
      readonly token: string;
      readonly number: number;
      /** What bash has said of the file that it could not write. */
      readonly problem?: string;
    }
  /** In a sandbox, of the process that starts the bashes there: the pid of one in there, and how it ended. */
  | { readonly kind: "forked"; readonly token: string; readonly innerPid: number }
  | { readonly kind: "ended"; readonly token: string; readonly code: number };

const FIELDS: Readonly<Record<string, number>> = {
  ...{ b: 3, s: 3, P: 3, E: 3 },
  // How a command ended; with variables; with everything that changes the meaning of the next one.
  ...{ r: 7, v: 7 + MEANING_FIELDS_COUNT, R: 7 + MEANING_FIELDS_COUNT },
};

export class ReportReader {
  readonly #onReport: (report: Report) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onReport: (report: Report) => void) {
    this.#onReport = onReport;
  }

  push(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (let report = this.#take(); report; report = this.#take()) this.#onReport(report);
  }

  #take(): Report | undefined {
    // Traps, and what else bash prints about itself, stand before the report they belong to.
    const first = this.#rest.indexOf(0);
    if (first < 0) return undefined;
    const head = textOfBytes(this.#rest.subarray(0, first));
    const kind = head.slice(-1);
    const count = FIELDS[kind];
    if (count === undefined) {
      // Nothing of ours: another process wrote to the pipe.
      this.#rest = this.#rest.subarray(first + 1);
      return this.#take();
    }
    const fields: string[] = [];
    let at = first + 1;
    while (fields.length < count - 1) {
      const end = this.#rest.indexOf(0, at);
      if (end < 0) return undefined;
      fields.push(textOfBytes(this.#rest.subarray(at, end)));
      at = end + 1;
    }
    if (this.#rest.length <= at) return undefined;
    this.#rest = this.#rest.subarray(at + 1);
    return reportOf(kind, head.slice(0, -1), fields);
  }
}

function reportOf(
  kind: string,
  printed: string,
  [token = "", number = "", ...rest]: readonly string[],
): Report {
  const [code = "", flags = "", cwd = "", aliases = "", ...fields] = rest;
  if (kind === "b") return { kind: "born", token, expandsAliases: number === "A" };
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

/** The first message of bash, without where it came from: `bash: line 3: declare: write error: …`. */
function problemOf(printed: string): { readonly problem?: string } {
  const [first = ""] = printed.split("\n");
  return first === "" ? {} : { problem: first.replace(/^.*?bash: (?:line \d+: )?/, "") };
}
