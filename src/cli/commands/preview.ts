// `nacre preview` and `nacre undo`: handle the previews of this user, whichever program made them.
import { resolve } from "node:path";
import { resolveExecutionOptions } from "../../execution/execution-options.ts";
import {
  commitAdmitted,
  diffPreview,
  discardPreview,
  listPreviews,
  type PreviewCall,
  type ShownPreview,
  showPreview,
  undoPreview,
} from "../../execution/preview-actions.ts";
import { previewMetadata } from "../../execution/preview-metadata.ts";
import { previewLines } from "../../execution/preview-result.ts";
import { PreviewConflict } from "../../preview/conflicts.ts";
import { changeLines, countsOf } from "../../preview/describe-changes.ts";
import type { PreviewRecord } from "../../preview/preview-record.ts";
import { ShellManager } from "../../shell-manager.ts";
import { wallMs } from "../../support/clock.ts";
import { shownPath, wirePath } from "../../support/path-text.ts";
import { createContext } from "../../tool/context.ts";
import { approverFor } from "../admit-run.ts";
import { duration } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { colorsFor } from "../colors.ts";
import { EXIT, failureExitCode } from "../exit-code.ts";
import type { Policy } from "../option.ts";
import { printJson, remark } from "../print.ts";
import { table } from "../table.ts";

export interface PreviewFlags {
  readonly json?: boolean;
  readonly policy?: Policy;
  readonly policyFile?: string;
}

export async function printPreviews(io: CliIo, { json }: PreviewFlags): Promise<number> {
  await using manager = new ShellManager({ poolSize: 0 });
  const records = listPreviews(callOf(io, manager, {}));
  if (json) printJson(io, records.map(wireRecord));
  else if (records.length === 0) io.stderr.write("There are no previews.\n");
  else io.stdout.write(tableOf(io, records));
  return EXIT.ok;
}

export async function executePreview(
  io: CliIo,
  action: "show" | "diff" | "commit" | "discard",
  id: string,
  paths: readonly string[] | undefined,
  flags: PreviewFlags,
): Promise<number> {
  await using manager = new ShellManager({ poolSize: 0 });
  const call = callOf(io, manager, flags);
  return await reportingConflicts(io, flags, async () => {
    switch (action) {
      case "show":
        return printShown(io, showPreview(id, call, paths), flags);
      case "diff": {
        const shown = await diffPreview(id, call, paths);
        if (flags.json) printJson(io, { ...wireShown(shown), diff: shown.text });
        else io.stdout.write(shown.text === "" ? "" : `${shown.text}\n`);
        return EXIT.ok;
      }
      case "commit": {
        const shown = await commitAdmitted(id, call, paths);
        if (flags.json) printJson(io, wireShown(shown));
        else io.stdout.write(committedText(shown));
        return EXIT.ok;
      }
      case "discard": {
        const shown = discardPreview(id, call, paths);
        if (flags.json) printJson(io, wireShown(shown));
        else io.stdout.write(discardedText(shown));
        return EXIT.ok;
      }
    }
  });
}

export async function executeUndo(
  io: CliIo,
  id: string | undefined,
  flags: PreviewFlags & { readonly cwd: string },
): Promise<number> {
  const workingDir = resolve(io.cwd, flags.cwd);
  await using manager = new ShellManager({ poolSize: 0, workspace: workingDir });
  const call = { ...callOf(io, manager, flags), context: createContext({ workingDir }) };
  return await reportingConflicts(io, flags, async () => {
    const { record, paths } = await undoPreview(id, call);
    if (flags.json) printJson(io, { ...wireRecord(record), restored: paths.map(wirePath) });
    else {
      io.stdout.write(
        `Undone: ${paths.length} ${paths.length === 1 ? "path is" : "paths are"} as before the commit of ${record.id}.\n`,
      );
    }
    return EXIT.ok;
  });
}

function callOf(io: CliIo, manager: ShellManager, { policy, policyFile }: PreviewFlags): PreviewCall {
  const options = resolveExecutionOptions({
    manager,
    entryPoint: "cli",
    ...(policy === undefined ? {} : { policy }),
    ...(policyFile === undefined ? {} : { policyFile }),
  });
  return { context: createContext({ workingDir: io.cwd, ...approverFor(io) }), options, scope: undefined };
}

/** With --json, prints the conflicts as a list, in addition to the message. */
async function reportingConflicts(
  io: CliIo,
  { json }: PreviewFlags,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!json || !(error instanceof PreviewConflict)) throw error;
    const { message, code, conflicts } = error;
    printJson(io, { error: message, error_code: code, conflicts });
    remark(io, message);
    return failureExitCode(code);
  }
}

function printShown(io: CliIo, shown: ShownPreview, { json }: PreviewFlags): number {
  const { record, changes } = shown;
  if (json) {
    const entries = changes.map(({ path, kind, before, after, tree }) => ({
      path: wirePath(path),
      change: kind,
      type: (after ?? before)?.type,
      bytes_before: before?.size ?? null,
      bytes_after: after?.size ?? null,
      ...(tree ? { entries_below: tree.length } : {}),
    }));
    printJson(io, { ...wireShown(shown), entries });
    return EXIT.ok;
  }
  io.stdout.write(`${shownPath(record.workspace)}: ${record.command}\n`);
  const howToCommit = `nacre preview commit ${record.id} writes it.`;
  const [first = ""] = previewLines(record, changes, howToCommit);
  const notCaptured = record.notCaptured.map((text) => `not captured: ${text}`);
  io.stdout.write(`${[first, ...changeLines(changes), ...notCaptured].join("\n")}\n`);
  return EXIT.ok;
}

function committedText({ record: { id }, changes }: ShownPreview): string {
  const undo = changes.length === 0 ? "" : ` nacre undo ${id} takes it back.`;
  return `Committed ${id}: ${countsOf(changes)}.${undo}\n`;
}

function discardedText({ record, changes }: ShownPreview): string {
  const rest = record.status === "pending" ? ` ${changes.length} changes of ${record.id} are left.` : "";
  return `Discarded. The workspace is untouched.${rest}\n`;
}

function wireRecord({ id, status, command, workspace, cwd, exitCode, createdAt }: PreviewRecord) {
  return {
    preview_id: id,
    status,
    command,
    workspace: wirePath(workspace),
    cwd: wirePath(cwd),
    exit_code: exitCode,
    created_at: new Date(createdAt).toISOString(),
  };
}

function wireShown({ record, changes }: ShownPreview) {
  const { preview_status: _, ...lists } = previewMetadata(record, changes);
  return { ...wireRecord(record), ...lists };
}

function tableOf(io: CliIo, records: readonly PreviewRecord[]): string {
  const colors = colorsFor(io);
  return table(
    records,
    [
      { title: "ID", cell: ({ id }) => id },
      { title: "STATUS", cell: ({ status }) => status },
      { title: "AGE", cell: ({ createdAt }) => duration(Math.max(0, wallMs() - createdAt)) },
      { title: "WORKSPACE", cell: ({ workspace }) => shownPath(workspace), shrinksTo: 10 },
      { title: "COMMAND", cell: ({ command }) => command.split("\n", 1)[0] ?? "", shrinksTo: 10 },
    ],
    { maxColumns: io.columns, paintTitle: (title) => colors.bold(title) },
  );
}
