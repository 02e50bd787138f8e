// Changes one file for Write and Edit: locks the file, requires that the reader knows its current version, and replaces
// it atomically.
//
//   changeFile
//     withAdmittedFile      admission, repeated if the path then resolves to another file (file-admission.ts)
//     withFileLock          one writer per file among all nacre processes
//     load                  the file in its current version; must be the version that the reader knows
//     change                the caller's new bytes
//     store                 checks the version again and replaces the file (disk/store.ts)
import { dirname } from "node:path";
import { redact } from "../environment/redact.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { FILE_MAX_BYTES } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import { differenceOf } from "./compare-text.ts";
import type { LoadedFile, StoreAnswer } from "./disk/disk.ts";
import { sha256Of } from "./disk/store.ts";
import { type AdmittedFile, type FileCall, withAdmittedFile } from "./file-admission.ts";
import { withFileLock } from "./file-lock.ts";
import { linkNotes } from "./file-options.ts";
import { notLoaded } from "./file-problems.ts";
import { decodeFile } from "./text-file.ts";

export interface FileChange {
  readonly tool: string;
  /** The text that an approval is bound to. */
  readonly what: string;
  /** Returns the new bytes. Throws if the change is impossible. `before` is undefined if there is no file. */
  readonly change: (before: Buffer | undefined, file: AdmittedFile) => Buffer;
}

export interface ChangedFile {
  readonly file: AdmittedFile;
  readonly created: boolean;
  readonly sizeBytes: number;
  readonly notes: readonly string[];
}

export async function changeFile(given: string, change: FileChange, call: FileCall): Promise<ChangedFile> {
  const effect = { kind: "write", tool: change.tool, what: change.what } as const;
  return await withAdmittedFile(given, effect, call, async (file) => {
    const { root } = file.service.manager;
    return await withFileLock(root, file.real, call.context.signal, () => changeLocked(file, change, call));
  });
}

async function changeLocked(
  file: AdmittedFile,
  { change }: FileChange,
  call: FileCall,
): Promise<ChangedFile | "moved"> {
  const before = await versionNow(file, call);
  if (before === "moved") return "moved";
  const bytes = change(before?.bytes, file);
  if (bytes.length > FILE_MAX_BYTES) {
    throw new NacreError(
      "invalid_input",
      `The file would have ${bytes.length} bytes; the file tools write at most ${FILE_MAX_BYTES}. Nothing was changed.`,
    );
  }
  const changed = { file, created: before === undefined, sizeBytes: bytes.length };
  if (call.context.dryRun) return { ...changed, notes: [] };
  const unfinished = file.service.unfinished.begin(dirname(file.real));
  try {
    const answer = await file.disk.store({
      real: file.real,
      expected: before ? { identity: before.identity, sha256: sha256Of(before.bytes) } : null,
      bytes,
      temporary: unfinished.temporary,
      missingDirs: file.missingDirs,
    });
    if (answer.kind === "moved") return "moved";
    if (answer.kind === "stale") throw staleFile(file, answer.current, call);
    file.service.known.set(file.reader, file.real, bytes);
    return { ...changed, notes: notesOn(file, answer) };
  } finally {
    unfinished.end();
  }
}

/** Loads the current version; undefined if there is no file. Throws if the reader does not know this version. */
async function versionNow(file: AdmittedFile, call: FileCall): Promise<LoadedFile | undefined | "moved"> {
  const found = await file.disk.locate(file.path);
  if (found.real !== file.real) return "moved";
  if (found.kind === undefined) return file.kind === undefined ? undefined : "moved";
  const answer = await file.disk.load(file.real);
  if (answer.kind === "moved") return "moved";
  if (answer.kind !== "loaded") throw notLoaded(file.path, answer);
  const known = file.service.known.get(file.reader, file.real);
  if (!known) {
    throw new NacreError(
      "stale_file",
      `${shownPath(file.path)} exists, and you have not read it: Read it first, so that you do not overwrite what you have not seen. Nothing was changed.`,
    );
  }
  if (known.sha256 !== sha256Of(answer.bytes)) throw staleFile(file, answer, call);
  return answer;
}

/** The error for a file that has changed since the reader read it. Shows the changes. */
function staleFile(file: AdmittedFile, current: LoadedFile | undefined, { options }: FileCall): NacreError {
  const before = file.service.known.get(file.reader, file.real)?.bytes;
  const values = options.manager().environment.droppedValues;
  const difference = attempt(() => {
    if (!before || !current) return undefined;
    const text = differenceOf(decodeFile(before, file.path).text, decodeFile(current.bytes, file.path).text);
    return options.redact ? redact(text, { values }) : text;
  });
  const what = current === undefined ? "is gone or was replaced" : "has changed";
  const shown = difference === undefined || difference === "" ? "" : ` What changed:\n${difference}\n`;
  return new NacreError(
    "stale_file",
    `${shownPath(file.path)} ${what} since you read it. Read it again, then repeat the change. Nothing was changed.${shown}`,
  );
}

function notesOn(file: AdmittedFile, answer: Extract<StoreAnswer, { kind: "stored" }>): string[] {
  const { inPlace, hardLinks, mayLackAttributes } = answer;
  return [
    ...linkNotes(file),
    ...(inPlace === undefined ? [] : [`Written in place, not atomically: ${IN_PLACE[inPlace](hardLinks)}.`]),
    ...(mayLackAttributes
      ? ["The file may have lost access control entries or extended attributes: cp could not copy them all."]
      : []),
  ];
}

const IN_PLACE = {
  "hard link": (count: number) => `the file is a hard link with ${count} names, which all show the change`,
  owner: () => "replacing the file would change its owner",
  directory: () => "no file can be created in its directory",
  "mount point": () => "the file is a mount point",
} as const;
