// The files that git subcommands read, which can be outside the repository, and the directories of worktrees.

import type { Field } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { readOptions, valuesOf } from "./read-options.ts";

/**
 * The files that a subcommand reads. The subcommand's other arguments are not files, or are files that it only lists.
 */
interface Reads {
  /** Options that take a value. */
  readonly values?: string;
  /** The options in `values` that name a file for git to read. */
  readonly files?: string;
  /** Set if operands are files: all of them, or those after a search pattern. */
  readonly operands?: "all" | "after-pattern";
}

const MESSAGE: Reads = { values: "-mFCctu message file template local-user", files: "-F file" };
const PATCH: Reads = { values: "-pC directory exclude include whitespace", operands: "all" };
const DIFF: Reads = { values: "-UGSlO unified output", files: "-O", operands: "all" };
const BLAME: Reads = { values: "-LS contents ignore-revs-file", files: "-S contents ignore-revs-file" };
const ADD: Reads = {
  values: "chmod cacheinfo pathspec-from-file",
  files: "pathspec-from-file",
  operands: "all",
};

const READS: Readonly<Record<string, Reads>> = {
  diff: DIFF,
  difftool: DIFF,
  "hash-object": { values: "-t path", operands: "all" },
  commit: {
    values: "-mFCct message file template author date fixup squash trailer pathspec-from-file",
    files: "-Ft file template pathspec-from-file",
  },
  tag: MESSAGE,
  notes: MESSAGE,
  merge: { values: "-mFsX message file strategy", files: "-F file" },
  "fmt-merge-msg": MESSAGE,
  blame: BLAME,
  annotate: BLAME,
  config: { values: "-ft file type default blob", files: "-f file" },
  grep: { values: "-efABCm max-depth threads", files: "-f", operands: "after-pattern" },
  apply: PATCH,
  am: PATCH,
  mailinfo: { operands: "all" },
  add: ADD,
  stage: ADD,
  "update-index": ADD,
  archive: { values: "-o output add-file prefix format remote exec", files: "add-file" },
  "merge-file": { values: "-L", operands: "all" },
  "interpret-trailers": { values: "trailer where if-exists if-missing", operands: "all" },
  "credential-store": { values: "file", files: "file" },
  "send-email": {
    values: "to cc bcc from subject in-reply-to compose smtp-server smtp-user smtp-pass",
    operands: "all",
  },
};

/** @param directory The value of `git -C`. Relative paths start there. */
export function filesRead(
  verb: string,
  args: readonly Field[],
  directory: string | null,
): readonly RawEffect[] {
  const known = Object.hasOwn(READS, verb) ? READS[verb] : undefined;
  if (!known) return [];
  const { values = "", files = "", operands } = known;
  const options = readOptions(args, { values });
  const hasPattern = operands === "after-pattern" && valuesOf(options, "-ef").length === 0;
  const named = operands === undefined ? [] : options.operands.slice(hasPattern ? 1 : 0);
  const fields = [...valuesOf(options, files), ...named];
  return effectsOn(
    fields.map((field) => inDirectory(field, directory)),
    "read",
  );
}

/** The effect of `git worktree add` on the directory that it creates. */
export function worktreeAdded(
  verb: string,
  args: readonly Field[],
  directory: string | null,
): readonly RawEffect[] {
  const [action, target] = readOptions(args, { values: "-bB reason" }).operands;
  if (verb !== "worktree" || action?.text !== "add" || !target) return [];
  return effectsOn([inDirectory(target, directory)], "may-write", { how: "familiar" });
}

function inDirectory(field: Field, directory: string | null): Field {
  return directory === null || /^[/~]/.test(field.text)
    ? field
    : { ...field, text: `${directory}/${field.text}` };
}
