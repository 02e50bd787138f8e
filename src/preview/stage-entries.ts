// Copies what a commit will move into the workspace from the upper layer to the directory of the commit. GNU tar keeps
// times, holes, extended attributes and hard links, and leaves out the attributes of the overlay itself.
import { mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { runPipeline } from "../engine/system-program.ts";
import { NacreError } from "../support/errors.ts";
import { bytesOfText, shownPath } from "../support/path-text.ts";
import { withOwnFiles } from "./own-files.ts";

/** Where tar puts the entries, in the directory of a commit: `in/tree/PATH`. */
export const STAGED_TREE = `${PREVIEW_NAMES.incoming}/tree`;

/** `paths` are relative to the upper layer, and no directories. */
export async function stageEntries(
  upper: string,
  commitDir: string,
  paths: readonly string[],
): Promise<void> {
  const tree = join(commitDir, STAGED_TREE);
  mkdirSync(tree, { recursive: true, mode: 0o700 });
  if (paths.length === 0) return;
  const create = [
    ...["tar", "--create", "--file=-", "--format=posix", "--sparse", "--xattrs"],
    ...["--xattrs-exclude=user.overlay.*", `--directory=${upper}`, "--no-recursion"],
    ...["--null", "--verbatim-files-from", "--files-from=-"],
  ];
  const extract = [
    ...["tar", "--extract", "--file=-", "--preserve-permissions", "--same-owner", "--numeric-owner"],
    ...["--xattrs", "--xattrs-include=user.*", `--directory=${tree}`],
  ];
  const input = bytesOfText(paths.map((path) => `./${path}\0`).join(""));
  const { code, stderr } = await runPipeline([withOwnFiles(create), withOwnFiles(extract)], { input });
  if (code === 0) return;
  const { bavail } = statfsSync(commitDir);
  if (/No space left|Disk quota exceeded/.test(stderr) || bavail === 0) {
    throw new NacreError(
      "limit_reached",
      `No space is left for ${shownPath(commitDir)}, so nothing was written to the workspace. Free some space, then commit again.`,
    );
  }
  throw new NacreError("unavailable", `Nothing was written to the workspace: tar failed: ${stderr}`);
}
