// Looks for files of other users and groups in the workspace. The overlay cannot copy them, so a command that changes
// one would fail in the preview and succeed outside of it.
import { runSystemProgram } from "../engine/system-program.ts";
import { NacreError } from "../support/errors.ts";
import { FOREIGN_FILES_SEARCH_MAX_MS } from "../support/limits.ts";
import { shownPath, textOfBytes } from "../support/path-text.ts";

/** The first such file. undefined also if the search takes too long. */
export async function findForeign(workspace: string): Promise<string | undefined> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const test = ["(", "!", "-uid", String(uid), "-o", "!", "-gid", String(gid), ")"];
  const argv = ["find", workspace, ...test, "-print0", "-quit"];
  const { stdout } = await runSystemProgram(argv, { timeoutMs: FOREIGN_FILES_SEARCH_MAX_MS });
  const end = stdout.indexOf(0);
  return end < 0 ? undefined : textOfBytes(stdout.subarray(0, end));
}

export function foreignFile(path: string): NacreError {
  return new NacreError(
    "unavailable",
    `Previews do not work here: ${shownPath(path)} belongs to another user or group, and an overlay cannot copy it. The workspace is untouched. Preview in a directory whose files all belong to you and your primary group.`,
  );
}
