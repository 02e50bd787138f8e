// Copies entries of one directory to another with GNU tar, which preserves times, holes, attributes and hard links. The
// overlay's own attributes are excluded.
import { statfsSync } from "node:fs";
import { runPipeline } from "../engine/system-program.ts";
import { NacreError } from "../support/errors.ts";
import { bytesOfText, shownPath } from "../support/path-text.ts";
import { WITH_ATTRIBUTES } from "./extended-attributes.ts";
import { withOwnFiles } from "./own-files.ts";

/** `paths` are relative. A directory is copied without its entries. */
export async function copyEntries(from: string, to: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const create = [
    ...["tar", "--create", "--file=-", "--format=posix", "--sparse", "--xattrs", "--acls"],
    ...["--xattrs-exclude=user.overlay.*", `--directory=${from}`, "--no-recursion"],
    ...["--null", "--verbatim-files-from", "--files-from=-"],
  ];
  const extract = [
    ...["tar", "--extract", "--file=-", "--preserve-permissions", "--same-owner", "--numeric-owner"],
    // Set the modes and times of directories at the end: otherwise copying their entries would change the times again.
    ...["--delay-directory-restore", ...WITH_ATTRIBUTES, `--directory=${to}`],
  ];
  const input = bytesOfText(paths.map((path) => `./${path}\0`).join(""));
  const { code, stderr } = await runPipeline([withOwnFiles(create), withOwnFiles(extract)], { input });
  if (code === 0) return;
  const { bavail } = statfsSync(to);
  if (/No space left|Disk quota exceeded/.test(stderr) || bavail === 0) {
    throw new NacreError(
      "limit_reached",
      `No space is left for ${shownPath(to)}, so nothing was written to the workspace. Free some space, then try again.`,
    );
  }
  throw new NacreError("unavailable", `Nothing was written to the workspace: tar failed: ${stderr}`);
}
