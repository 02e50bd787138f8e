// The differences between the workspace and a preview, in the format of `diff -u`.
import { join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { runSystemProgram } from "../engine/system-program.ts";
import { PREVIEW_DIFF_MAX_BYTES, PREVIEW_PATHS_MAX_COUNT } from "../support/limits.ts";
import { shownPath, textOfBytes } from "../support/path-text.ts";
import { changeLines } from "./describe-changes.ts";
import { withOwnFiles } from "./own-files.ts";
import type { PreviewRecord } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import type { Change } from "./scan-changes.ts";

/** If the differences exceed a limit, truncates them and adds a note. */
export async function diffOf(
  store: PreviewStore,
  record: PreviewRecord,
  changes: readonly Change[],
): Promise<string> {
  const parts: string[] = [];
  let bytes = 0;
  for (const [index, change] of changes.entries()) {
    if (index >= PREVIEW_PATHS_MAX_COUNT || bytes > PREVIEW_DIFF_MAX_BYTES) {
      parts.push(`… and ${changes.length - index} more changes: name their paths to see them.`);
      break;
    }
    const text = await diffOfChange(store.dirOf(record.id), record.workspace, change);
    parts.push(text);
    bytes += text.length;
  }
  return parts.join("\n");
}

async function diffOfChange(dir: string, workspace: string, change: Change): Promise<string> {
  const { path, before, after } = change;
  const [line = ""] = changeLines([change]);
  const isText = [before, after].every((entry) => entry === null || entry.type === "file");
  if (!isText) return line;
  const old = before ? join(workspace, path) : "/dev/null";
  const now = after ? join(dir, PREVIEW_NAMES.upper, path) : "/dev/null";
  const labels = [
    before ? `a/${shownPath(path)}` : "/dev/null",
    after ? `b/${shownPath(path)}` : "/dev/null",
  ];
  const argv = ["diff", "--unified", ...labels.flatMap((label) => ["--label", label]), "--", old, now];
  const { code, stdout, stderr } = await runSystemProgram(withOwnFiles(argv), {
    maxBytes: PREVIEW_DIFF_MAX_BYTES,
  });
  // diff exits with 1 if the files differ.
  if (code === 0 || stdout.length === 0) return stderr === "" ? line : `${line}: ${stderr}`;
  if (code === null) return `${line}: the difference is larger than ${PREVIEW_DIFF_MAX_BYTES} bytes`;
  return `${line}\n${textOfBytes(stdout).toWellFormed().replace(/\n$/, "")}`;
}
