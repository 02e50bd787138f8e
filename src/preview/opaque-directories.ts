// Finds the directories of an upper layer that replace the directory below them, instead of merging with it. The kernel
// marks them with an extended attribute. Node cannot read attributes, but GNU tar writes them to its archive.
import { runSystemProgram } from "../engine/system-program.ts";
import { NacreError } from "../support/errors.ts";
import { TAR_BLOCK_BYTES } from "../support/limits.ts";
import { bytesOfText } from "../support/path-text.ts";
import { withOwnFiles } from "./own-files.ts";

const OPAQUE = "SCHILY.xattr.user.overlay.opaque=";

/** `paths` are relative to the upper directory. Returns the opaque ones. */
export async function opaqueAmong(upper: string, paths: readonly string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const argv = [
    ...["tar", "--create", "--file=-", "--format=posix", "--xattrs", "--xattrs-include=user.overlay.opaque"],
    ...[`--directory=${upper}`, "--no-recursion", "--null", "--verbatim-files-from", "--files-from=-"],
  ];
  // A name that begins with a dash would be an option, and `./` also keeps names relative.
  const input = bytesOfText(paths.map((path) => `./${path}\0`).join(""));
  const { code, stdout, stderr } = await runSystemProgram(withOwnFiles(argv), { input });
  if (code !== 0) {
    throw new NacreError(
      "unavailable",
      `nacre cannot tell which directories the command replaced, because GNU tar failed: ${stderr}. Install GNU tar.`,
    );
  }
  const marked = markedEntries(stdout);
  return new Set(paths.filter((_, index) => marked.has(index)));
}

/** The positions of entries that have the attribute. The archive contains only directories, in the order asked for. */
function markedEntries(archive: Buffer): Set<number> {
  const found = new Set<number>();
  let index = 0;
  let isMarked = false;
  for (let at = 0; at + TAR_BLOCK_BYTES <= archive.length; ) {
    const header = archive.subarray(at, at + TAR_BLOCK_BYTES);
    if (header[0] === 0) break;
    const size = Number.parseInt(header.subarray(124, 136).toString("latin1"), 8) || 0;
    const type = String.fromCharCode(header[156] ?? 0);
    at += TAR_BLOCK_BYTES;
    if (type === "x") isMarked = archive.subarray(at, at + size).includes(`${OPAQUE}y`);
    else if (type !== "g" && type !== "L" && type !== "K") {
      if (isMarked) found.add(index);
      index++;
      isMarked = false;
    }
    at += Math.ceil(size / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES;
  }
  return found;
}
