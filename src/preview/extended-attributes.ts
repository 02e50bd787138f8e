// Reads the extended attributes and access control lists of files and directories. Node cannot read them, so GNU tar
// writes them to an archive, which pax-reader.ts parses.
import { runSystemProgram } from "../engine/system-program.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { bytesOfText, shownPath } from "../support/path-text.ts";
import { withOwnFiles } from "./own-files.ts";
import { PaxReader, type PaxRecords } from "./pax-reader.ts";

export interface Attributes {
  /** Equal for equal attributes; empty without attributes. Excludes the overlay's own attributes. */
  readonly text: string;
  /** Whether a directory of an upper layer replaces the directory below it instead of merging with it. */
  readonly isOpaque: boolean;
}

const OVERLAY = "SCHILY.xattr.user.overlay.";
const KEYS = /^SCHILY\.(?:xattr\.user|acl)\./;
const NONE: Attributes = { text: "", isOpaque: false };

/** The options with which tar writes and applies attributes. */
export const WITH_ATTRIBUTES = ["--xattrs", "--xattrs-include=user.*", "--acls"];

/** `paths`: existing files and directories, relative to `base`. */
export async function attributesOf(base: string, paths: readonly string[]): Promise<Map<string, Attributes>> {
  if (paths.length === 0) return new Map();
  const argv = [
    ...["tar", "--create", "--file=-", "--format=posix", "--sparse", "--hard-dereference"],
    ...[...WITH_ATTRIBUTES, `--directory=${base}`, "--no-recursion"],
    ...["--null", "--verbatim-files-from", "--files-from=-"],
  ];
  // Add `./`: tar would read a name that begins with a dash as an option.
  const input = bytesOfText(paths.map((path) => `./${path}\0`).join(""));
  const reader = new PaxReader();
  const onStdout = (chunk: Buffer) => reader.push(chunk);
  const { code, stderr } = await runSystemProgram(withOwnFiles(argv), { input, onStdout }).catch(
    (cause: unknown) => {
      throw new NacreError(
        "unavailable",
        `nacre cannot read the attributes of files below ${shownPath(base)}: ${messageOf(cause)} Remove the attributes of the file that has too many, then preview again.`,
        { cause },
      );
    },
  );
  if (code !== 0 || reader.entries.length !== paths.length) {
    const why = stderr === "" ? `it listed ${reader.entries.length} of ${paths.length} entries` : stderr;
    throw new NacreError(
      "unavailable",
      `nacre cannot read the attributes of files, because GNU tar failed: ${why}. Install GNU tar, or preview again if another program changed these files.`,
    );
  }
  return new Map(paths.map((path, index) => [path, attributesIn(reader.entries[index])]));
}

function attributesIn(records: PaxRecords | undefined): Attributes {
  if (!records) return NONE;
  const own = [...records].filter(([key]) => KEYS.test(key) && !key.startsWith(OVERLAY));
  return {
    text: own.length === 0 ? "" : JSON.stringify(own.sort()),
    isOpaque: records.get(`${OVERLAY}opaque`) === "y",
  };
}
