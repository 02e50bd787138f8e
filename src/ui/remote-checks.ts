// Checks what a remote machine sends to the page. That machine may be hostile: a value of the wrong type or size would
// break the page or fill its memory. Unknown fields are dropped, long texts are cut, and wrong values become empty ones.
import { SHELL_ROLES } from "../engine/meta.ts";
import { isShellId } from "../engine/state-ids.ts";
import {
  UI_COMMAND_MAX_CHARS,
  UI_HELD_MAX_CHARS,
  UI_LINE_MAX_CHARS,
  UI_REMOTE_LIST_MAX_COUNT,
  UI_REMOTE_ROWS_MAX_COUNT,
} from "../support/limits.ts";
import type { Waiting } from "../terminal/waiting.ts";
import type { OutputChunk } from "./page-output.ts";
import type { Attention, ShellRow } from "./shell-rows.ts";
import type { PageEnd, PageScreen } from "./shell-source.ts";

type Fields = Readonly<Record<string, unknown>>;

const ATTENTIONS: readonly Attention[] = ["you", "failed", "silent", "running", "done"];
const WAITINGS: readonly Waiting[] = ["line", "key", "secret", "maybe", "no"];

export function cutText(value: unknown, maxChars: number = UI_COMMAND_MAX_CHARS): string {
  return typeof value === "string" ? value.slice(0, maxChars) : "";
}

export function rowChange(value: unknown): { readonly shells: ShellRow[]; readonly gone: string[] } {
  const { shells, gone } = fields(value);
  // Allow twice the limit: one change can remove all known rows and add the same number of new rows.
  const max = 2 * UI_REMOTE_ROWS_MAX_COUNT;
  return {
    shells: list(shells, max).flatMap((row) => shellRow(fields(row)) ?? []),
    gone: list(gone, max).map((id) => cutText(id, UI_LINE_MAX_CHARS)),
  };
}

function shellRow(row: Fields): ShellRow | undefined {
  const id = row["id"];
  // The id becomes part of a path.
  if (typeof id !== "string" || !isShellId(id)) return undefined;
  return {
    id,
    shell_id: id,
    machine: null,
    kind: SHELL_ROLES.find((role) => role === row["kind"]) ?? "command",
    ...{ name: line(row["name"]), description: line(row["description"]), agent: line(row["agent"]) },
    ...{ session: line(row["session"]), scope: line(row["scope"]) ?? "" },
    ...{
      command: cutText(row["command"]),
      cwd: cutText(row["cwd"]),
      status: cutText(row["status"], UI_LINE_MAX_CHARS),
    },
    attention: oneOf(ATTENTIONS, row["attention"], "running"),
    ended: line(row["ended"]),
    exit_code: number(row["exit_code"]),
    created_at: number(row["created_at"]) ?? 0,
    ...{ ended_at: number(row["ended_at"]), printed_at: number(row["printed_at"]) },
    output_bytes: number(row["output_bytes"]) ?? 0,
    last_line: line(row["last_line"]) ?? "",
    durable: row["durable"] === true,
    sandbox: line(row["sandbox"]),
    waiting: row["waiting"] === null ? null : oneOf(WAITINGS, row["waiting"], "no"),
    processes: number(row["processes"]) ?? 0,
    cpu_percent: number(row["cpu_percent"]) ?? 0,
    memory_bytes: number(row["memory_bytes"]) ?? 0,
    ports: numbers(row["ports"]),
  };
}

export function outputChunks(value: unknown): readonly OutputChunk[] {
  return list(value).map((chunk) => {
    const { stream, text: printed, skipped_bytes } = fields(chunk);
    const skipped = number(skipped_bytes) ?? 0;
    return {
      stream: stream === "stderr" ? "stderr" : "stdout",
      text: cutText(printed, UI_HELD_MAX_CHARS),
      ...(skipped > 0 ? { skipped_bytes: skipped } : {}),
    };
  });
}

export function screen(value: unknown): PageScreen {
  const { rows, cols, cursor, waiting, is_partial } = fields(value);
  const { row, at } = fields(cursor);
  return {
    rows: list(rows).map((one) => cutText(one)),
    cols: number(cols) ?? 0,
    cursor: { row: number(row) ?? 0, at: number(at) ?? 0 },
    waiting: oneOf(WAITINGS, waiting, "no"),
    is_partial: is_partial === true,
  };
}

export function pageEnd(value: unknown): PageEnd {
  const { status, exit_code } = fields(value);
  return { status: cutText(status, UI_LINE_MAX_CHARS), exit_code: number(exit_code) };
}

export function searchResult(value: unknown): unknown {
  const { lines, matches, searchedLines, isComplete } = fields(value);
  return {
    lines: list(lines).map((one) => {
      const { stream, number: at, line: lineNumber, text: found } = fields(one);
      return {
        stream: stream === "stderr" ? "stderr" : "stdout",
        number: number(at) ?? number(lineNumber) ?? 0,
        text: cutText(found),
      };
    }),
    matches: number(matches) ?? 0,
    searchedLines: number(searchedLines) ?? 0,
    isComplete: isComplete === true,
  };
}

export function processList(value: unknown): unknown {
  const { processes, silent_ms } = fields(value);
  return {
    processes: list(processes).map((one) => {
      const { pid, parent, command, state, waits_for, cpu_ms, ports } = fields(one);
      return {
        ...{ pid: number(pid) ?? 0, parent: number(parent) ?? 0, command: cutText(command) },
        ...{ state: cutText(state, UI_LINE_MAX_CHARS), waits_for: line(waits_for) },
        ...{ cpu_ms: number(cpu_ms) ?? 0, ports: numbers(ports) },
      };
    }),
    silent_ms: number(silent_ms) ?? 0,
  };
}

export function killReport(value: unknown): unknown {
  const { id, status, was_running, signalled, survivors, unverified } = fields(value);
  const killed = (of: unknown) =>
    list(of).map((one) => {
      const { pid, command, reason } = fields(one);
      return { pid: number(pid) ?? 0, command: cutText(command), reason: cutText(reason, UI_LINE_MAX_CHARS) };
    });
  return {
    ...{ id: cutText(id, UI_LINE_MAX_CHARS), status: cutText(status, UI_LINE_MAX_CHARS) },
    was_running: was_running === true,
    ...{ signalled: killed(signalled), survivors: killed(survivors) },
    ...(unverified ? { unverified: true } : {}),
  };
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function list(value: unknown, maxCount: number = UI_REMOTE_LIST_MAX_COUNT): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, maxCount) : [];
}

function line(value: unknown): string | null {
  return typeof value === "string" ? cutText(value, UI_LINE_MAX_CHARS) : null;
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function numbers(value: unknown): number[] {
  return list(value).flatMap((one) => number(one) ?? []);
}

function oneOf<T extends string>(known: readonly T[], value: unknown, otherwise: T): T {
  return known.find((one) => one === value) ?? otherwise;
}
