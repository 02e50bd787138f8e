// `nacre approvals`, `nacre approve`, `nacre deny` and `nacre forget`: the approval requests of this user, whichever
// program made them.

import { ApprovalDesk } from "../../approvals/approval-desk.ts";
import { type ApprovalInbox, approvalInbox } from "../../approvals/approval-inbox.ts";
import type { ApprovalEntry, ApprovalStatus } from "../../approvals/approval-record.ts";
import { summaryLines } from "../../preview/summarize-preview.ts";
import { wallMs } from "../../support/clock.ts";
import { defined } from "../../support/defined.ts";
import { PS_CELL_MAX_CHARS } from "../../support/limits.ts";
import { shownPath } from "../../support/path-text.ts";
import { printable } from "../../support/printable.ts";
import { duration } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { type Colors, colorsFor } from "../colors.ts";
import { cutEnd, cutStart, oneLine } from "../columns.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager } from "../find-shell.ts";
import { printJson } from "../print.ts";
import { table } from "../table.ts";

export interface ApprovalsOptions {
  readonly remembered?: boolean;
  readonly json?: boolean;
}

export interface AnswerFlags {
  readonly reason?: string;
  readonly remember?: "session" | "workspace";
  /** Milliseconds. */
  readonly for?: number;
  readonly paths?: "exact" | "class";
  readonly json?: boolean;
}

export function listApprovals(io: CliIo, { json, remembered }: ApprovalsOptions): number {
  if (remembered) return listRemembered(io, json ?? false);
  const entries = inboxFor("nacre approvals").list();
  if (json) printJson(io, entries);
  else if (entries.length === 0) io.stderr.write("There are no approval requests.\n");
  else {
    io.stdout.write(tableOf(io, entries));
    for (const { id, preview } of entries)
      if (preview) io.stdout.write(`${[`${id}:`, ...summaryLines(preview).map(printable)].join("\n  ")}\n`);
  }
  return EXIT.ok;
}

export function answerApproval(
  io: CliIo,
  answer: "approve" | "deny",
  id: string,
  { reason, json, remember: lasts, for: forMs, paths }: AnswerFlags,
): number {
  const inbox = inboxFor(`nacre ${answer}`);
  const remember = lasts && { lasts, ...defined({ forMs, paths }) };
  const entry = inbox[answer](id, defined({ reason, remember }));
  if (json) printJson(io, entry);
  else
    io.stdout.write(
      `${answer === "approve" ? "Approved" : "Denied"} ${entry.id}: ${oneLine(entry.command, PS_CELL_MAX_CHARS)}\n${nextStep(entry)}\n`,
    );
  return EXIT.ok;
}

export function forgetAnswers(
  io: CliIo,
  ids: readonly string[],
  { json }: { readonly json?: boolean },
): number {
  const inbox = inboxFor("nacre forget");
  const forgotten = ids.map((id) => inbox.forget(id));
  if (json) printJson(io, forgotten);
  else
    for (const { id, command } of forgotten)
      io.stdout.write(`Forgot ${id}: ${oneLine(command, PS_CELL_MAX_CHARS)}\n`);
  return EXIT.ok;
}

function listRemembered(io: CliIo, json: boolean): number {
  const answers = inboxFor("nacre approvals").remembered();
  const colors = colorsFor(io);
  if (json) printJson(io, answers);
  else if (answers.length === 0) io.stderr.write("No answer is remembered.\n");
  else {
    const shown = table(
      answers,
      [
        { title: "ID", cell: ({ id }) => id },
        { title: "ANSWER", cell: ({ allow }) => (allow ? "yes" : "no") },
        {
          title: "FOR",
          cell: ({ lasts, session, workspace }) =>
            lasts === "session"
              ? `session ${printable(session ?? "-")}`
              : oneLine(shownPath(workspace), PS_CELL_MAX_CHARS),
          shrinksTo: 12,
          shorten: cutStart,
        },
        {
          title: "LEFT",
          cell: ({ until }) => duration(Math.max(0, Date.parse(until) - wallMs())),
          align: "right",
        },
        { title: "PATHS", cell: ({ paths }) => paths, isOptional: true },
        { title: "RULES", cell: ({ rules }) => printable(rules.join(", ")), shrinksTo: 8, isOptional: true },
        {
          title: "COMMAND",
          cell: ({ command }) => oneLine(command, PS_CELL_MAX_CHARS),
          shrinksTo: 8,
          shorten: cutEnd,
        },
      ],
      { maxColumns: io.columns, paintTitle: (title) => colors.bold(title) },
    );
    io.stdout.write(shown);
  }
  return EXIT.ok;
}

function inboxFor(by: string): ApprovalInbox {
  return approvalInbox(ApprovalDesk.of(readOnlyManager().root), by);
}

function nextStep({ waiting, status, answer }: ApprovalEntry): string {
  const remembered = answer?.remembered;
  const undo =
    remembered === undefined ? "" : ` Remembered as ${remembered}: nacre forget ${remembered} undoes that.`;
  return `${whatHappens(waiting, status)}${undo}`;
}

function whatHappens(waiting: boolean, status: ApprovalStatus): string {
  if (waiting) return "The waiting call continues now.";
  if (status === "denied") return "The agent gets this answer when it repeats the call.";
  return "No call waits for it. It runs when the agent repeats the same call before the deadline.";
}

const ORDER: readonly ApprovalStatus[] = ["open", "abandoned", "approved", "denied", "expired", "withdrawn"];

function tableOf(io: CliIo, entries: readonly ApprovalEntry[]): string {
  const colors = colorsFor(io);
  const rows = entries.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  return table(
    rows,
    [
      { title: "ID", cell: ({ id }) => id },
      { title: "STATUS", cell: statusCell, paint: (text, entry) => paintStatus(colors, entry, text) },
      { title: "LEFT", cell: timeLeft, align: "right", isOptional: true },
      { title: "SESSION", cell: ({ session }) => printable(session ?? "-"), shrinksTo: 7, isOptional: true },
      {
        title: "CWD",
        cell: ({ cwd }) => oneLine(shownPath(cwd), PS_CELL_MAX_CHARS),
        shrinksTo: 10,
        shorten: cutStart,
        isOptional: true,
      },
      { title: "RULE", cell: ({ rule }) => printable(rule), shrinksTo: 8, isOptional: true },
      {
        title: "COMMAND",
        cell: ({ command }) => oneLine(command, PS_CELL_MAX_CHARS),
        shrinksTo: 8,
        shorten: cutEnd,
      },
    ],
    { maxColumns: io.columns, paintTitle: (title) => colors.bold(title) },
  );
}

function statusCell({ status, answer, waiting }: ApprovalEntry): string {
  if (waiting) return "waiting";
  return answer && status !== "expired" ? `${status} (${printable(answer.by)})` : status;
}

function paintStatus(colors: Colors, { status }: ApprovalEntry, text: string): string {
  if (status === "open") return colors.yellow(text);
  return status === "approved" ? colors.green(text) : colors.dim(text);
}

function timeLeft({ status, deadline }: ApprovalEntry): string {
  return status === "open" || status === "abandoned"
    ? duration(Math.max(0, Date.parse(deadline) - wallMs()))
    : "";
}
