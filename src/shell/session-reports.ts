// What a session's bash says through its report fifo: that it is there, how a command ended, and that its
// state is saved. Fields end with NUL, a report with a line end behind the last field. Bytes in, reports out.

export type Report =
  /** It has restored its state and takes commands. */
  | { readonly kind: "born"; readonly token: string }
  | {
      readonly kind: "ran";
      readonly token: string;
      readonly number: number;
      readonly code: number;
      /** `$-` */
      readonly flags: string;
      readonly cwd: string;
      /** Those that are off between commands, as `trap -p` prints them. */
      readonly traps: string;
    }
  | { readonly kind: "saved"; readonly token: string; readonly number: number }
  /** In a sandbox, of whoever starts the bashes there: the pid of one in there, and how it ended. */
  | { readonly kind: "forked"; readonly token: string; readonly innerPid: number }
  | { readonly kind: "ended"; readonly token: string; readonly code: number };

const FIELDS: Readonly<Record<string, number>> = { b: 2, r: 6, s: 3, P: 3, E: 3 };

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
    // Traps stand before the report they belong to, as they were printed.
    const first = this.#rest.indexOf(0);
    if (first < 0) return undefined;
    const head = this.#rest.toString("utf8", 0, first);
    const kind = head.slice(-1);
    const count = FIELDS[kind];
    if (count === undefined) {
      // Nothing of ours: somebody else wrote to the fifo.
      this.#rest = this.#rest.subarray(first + 1);
      return this.#take();
    }
    const fields: string[] = [];
    let at = first + 1;
    while (fields.length < count - 1) {
      const end = this.#rest.indexOf(0, at);
      if (end < 0) return undefined;
      fields.push(this.#rest.toString("utf8", at, end));
      at = end + 1;
    }
    if (this.#rest.length <= at) return undefined;
    this.#rest = this.#rest.subarray(at + 1);
    return reportOf(kind, head.slice(0, -1), fields);
  }
}

function reportOf(
  kind: string,
  traps: string,
  [token = "", number = "", ...rest]: readonly string[],
): Report {
  const [code = "", flags = "", cwd = ""] = rest;
  if (kind === "b") return { kind: "born", token };
  if (kind === "P") return { kind: "forked", token, innerPid: Number(number) };
  if (kind === "E") return { kind: "ended", token, code: Number(number) };
  if (kind === "s") return { kind: "saved", token, number: Number(number) };
  return { kind: "ran", token, number: Number(number), code: Number(code), flags, cwd, traps };
}
