// Searches the workspace for files that an overlay cannot handle:
//
//   files of other users and groups   the overlay cannot copy them, so a command that changes one would fail in the
//                                     preview but succeed outside of it
//   files with several names          the overlay would split them (hard-links.ts)
import { runSystemProgram } from "../engine/system-program.ts";
import { NacreError } from "../support/errors.ts";
import { WORKSPACE_SURVEY_MAX_MS } from "../support/limits.ts";
import { shownPath, textOfBytes } from "../support/path-text.ts";

export interface LinkedFile {
  /** Relative to the workspace. */
  readonly path: string;
  readonly ino: string;
  readonly size: number;
}

export interface WorkspaceSurvey {
  /** The first file of another user or group, relative to the workspace. */
  readonly foreign: string | undefined;
  /** Regular files with more than one name. */
  readonly linked: readonly LinkedFile[];
}

/** Returns an empty survey if the search takes too long. */
export async function surveyWorkspace(workspace: string): Promise<WorkspaceSurvey> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const isForeign = ["(", "!", "-uid", String(uid), "-o", "!", "-gid", String(gid), ")"];
  const { code, stdout } = await runSystemProgram(
    [
      ...["find", workspace, ...isForeign, "-printf", "foreign %P\\0", "-quit"],
      ...["-o", "-type", "f", "-links", "+1", "-printf", "%i %s %P\\0"],
    ],
    { timeoutMs: WORKSPACE_SURVEY_MAX_MS },
  );
  if (code === null) return { foreign: undefined, linked: [] };
  const linked: LinkedFile[] = [];
  for (const line of linesOf(stdout)) {
    const [first = "", ...rest] = line.split(" ");
    if (first === "foreign") return { foreign: rest.join(" "), linked };
    linked.push({ ino: first, size: Number(rest[0]), path: rest.slice(1).join(" ") });
  }
  return { foreign: undefined, linked };
}

/** Decodes each file name separately, so that a name with invalid bytes does not affect the others. */
function linesOf(output: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at);
    if (end < 0) break;
    lines.push(textOfBytes(output.subarray(at, end)));
    at = end + 1;
  }
  return lines;
}

export function foreignFile(path: string): NacreError {
  const name = path === "" ? "the workspace" : shownPath(path);
  return new NacreError(
    "unavailable",
    `Previews do not work here: ${name} belongs to another user or group, and an overlay cannot copy it. The workspace is untouched. Preview in a directory whose files all belong to you and your primary group.`,
  );
}
