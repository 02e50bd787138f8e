// One row of the page per shell: what it is, what it does, and whether it needs attention. A row contains times instead
// of ages, so that the row changes only when the shell changes.
import { statSync } from "node:fs";
import { readRange } from "../engine/cursor.ts";
import type { ShellRole } from "../engine/meta.ts";
import type { StreamName } from "../shell/follow-output.ts";
import { describeOutcome } from "../shell/outcome.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { attempt } from "../support/attempt.ts";
import { wallMs } from "../support/clock.ts";
import {
  UI_COMMAND_MAX_CHARS,
  UI_LAST_LINE_BYTES,
  UI_LINE_MAX_CHARS,
  UI_SAME_TIME_MS,
  UI_SILENT_MS,
} from "../support/limits.ts";
import { wirePath } from "../support/path-text.ts";
import type { Waiting } from "../terminal/waiting.ts";
import { decodeUtf8, orphanedHeadBytes } from "../text/decode.ts";
import type { Figures } from "./process-figures.ts";

/** From the most to the least urgent. Approvals and prompts for a secret are "you". */
export type Attention = "you" | "failed" | "silent" | "running" | "done";

export interface ShellRow {
  /** The id on the page, unique across all machines (machine-shells.ts). */
  readonly id: string;
  /** The id on the machine of the shell. */
  readonly shell_id: string;
  /** The key of the machine that the shell runs on; null for this machine. */
  readonly machine: string | null;
  /** "session": the bash of a session, in which foreground commands run. "worker": a helper of the file tools. */
  readonly kind: "command" | ShellRole;
  readonly name: string | null;
  /** The agent's description of the command. */
  readonly description: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly scope: string;
  readonly command: string;
  readonly cwd: string;
  readonly status: string;
  readonly attention: Attention;
  /** How the shell ended, in words; null while it runs. */
  readonly ended: string | null;
  readonly exit_code: number | null;
  readonly created_at: number;
  readonly ended_at: number | null;
  /** When the shell last printed something; null if it has printed nothing. */
  readonly printed_at: number | null;
  readonly output_bytes: number;
  readonly last_line: string;
  readonly durable: boolean;
  readonly sandbox: string | null;
  /** What the program in the terminal waits for; null if the shell has no terminal. */
  readonly waiting: Waiting | null;
  readonly processes: number;
  readonly cpu_percent: number;
  readonly memory_bytes: number;
  readonly ports: readonly number[];
}

export type Sanitize = (text: string) => string;

/** Stores the output size of each shell at the last poll. Reads the last line only if the size has changed. */
export class LastLines {
  readonly #known = new Map<
    string,
    { readonly bytes: number; readonly printedAt: number | null; readonly line: string }
  >();
  readonly #sanitize: Sanitize;

  constructor(sanitize: Sanitize) {
    this.#sanitize = sanitize;
  }

  of(shell: ShellProcess): {
    readonly bytes: number;
    readonly printedAt: number | null;
    readonly line: string;
  } {
    const parts = shell.outputParts;
    const streams = (["stdout", "stderr"] as const).map((stream) => streamState(stream, parts[stream]));
    const bytes = streams.reduce((sum, one) => sum + one.bytes, 0);
    const known = this.#known.get(shell.id);
    if (known?.bytes === bytes) return known;
    const newest = streams.filter((one) => one.bytes > 0).sort(newerFirst)[0];
    const seen = {
      bytes,
      printedAt: newest?.at ?? null,
      line: newest ? this.#lastLine(parts[newest.stream].path, newest.from, newest.to) : "",
    };
    this.#known.set(shell.id, seen);
    return seen;
  }

  /** Forgets shells that are not listed any more. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }

  #lastLine(path: string, start: number, end: number): string {
    const from = Math.max(start, end - UI_LAST_LINE_BYTES);
    const bytes = readRange(path, from, end);
    const text = decodeUtf8(bytes.subarray(from === start ? 0 : orphanedHeadBytes(bytes)));
    // Sanitize before cutting: redaction does not recognize a part of a secret.
    const lines = this.#sanitize(text).trimEnd().split("\n");
    return (lines.at(-1) ?? "").slice(0, UI_LINE_MAX_CHARS);
  }
}

interface StreamState {
  readonly stream: StreamName;
  readonly bytes: number;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** If both streams were written at about the same time, prefers stderr. */
function newerFirst(a: StreamState, b: StreamState): number {
  if (Math.abs(a.at - b.at) > UI_SAME_TIME_MS) return b.at - a.at;
  return a.stream === "stderr" ? -1 : 1;
}

function streamState(
  stream: StreamName,
  { path, from, to }: { readonly path: string; readonly from: number; readonly to: number },
): StreamState {
  const stat = attempt(() => statSync(path));
  return { stream, bytes: Math.max(0, to - from), at: Math.round(stat?.mtimeMs ?? 0), from, to };
}

export interface RowParts {
  readonly lines: LastLines;
  readonly figures: Figures;
  readonly waiting: Waiting;
}

export function shellRow(shell: ShellProcess, { lines, figures, waiting }: RowParts): ShellRow {
  const { meta } = shell.started;
  const { outcome, status } = shell;
  const { bytes, printedAt, line } = lines.of(shell);
  const row = {
    id: shell.id,
    shell_id: shell.id,
    machine: null,
    kind: meta.role ?? ("command" as const),
    name: meta.name ?? null,
    description: meta.description ?? null,
    agent: meta.agent ?? null,
    session: meta.session,
    scope: shell.scope,
    command: meta.role !== undefined ? "" : shell.command.slice(0, UI_COMMAND_MAX_CHARS),
    cwd: wirePath(shell.workingDir),
    status,
    ended: outcome ? describeOutcome(outcome) : null,
    exit_code: shell.exitCode,
    created_at: Math.round(shell.createdAt),
    ended_at: shell.completedAt === null ? null : Math.round(shell.completedAt),
    printed_at: printedAt,
    output_bytes: bytes,
    last_line: line,
    durable: shell.durable,
    sandbox: shell.confinement?.driver === "bubblewrap" ? shell.confinement.profile : null,
    waiting: shell.terminal ? (outcome ? ("no" as const) : waiting) : null,
    processes: outcome ? 0 : figures.processes,
    cpu_percent: outcome ? 0 : figures.cpuPercent,
    memory_bytes: outcome ? 0 : figures.memoryBytes,
    ports: outcome ? [] : figures.ports,
  };
  return { ...row, attention: attentionOf(row) };
}

function attentionOf(row: Omit<ShellRow, "attention">): Attention {
  if (row.ended !== null) return ["completed", "killed"].includes(row.status) ? "done" : "failed";
  // A prompt for a secret needs a person, because only a person may type a secret.
  if (row.waiting === "secret") return "you";
  // The silence of a session or a worker is normal: most of the time, it waits for the next call.
  if (row.kind !== "command") return "running";
  const quietMs = wallMs() - (row.printed_at ?? row.created_at);
  return quietMs > UI_SILENT_MS && row.cpu_percent === 0 ? "silent" : "running";
}
