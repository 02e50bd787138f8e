// The Edit tool: replaces text in a file that was read before.
import { z } from "zod";
import { redact } from "../environment/redact.ts";
import { NacreError } from "../support/errors.ts";
import { EDITS_MAX_COUNT } from "../support/limits.ts";
import { wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import type { ToolAnnotations } from "../tool/tool.ts";
import { changeFile } from "./change-file.ts";
import { nearestLines } from "./compare-text.ts";
import { applyEdits, type EditedText, type TextEdit } from "./edit-text.ts";
import { describeContent } from "./file-admission.ts";
import { type FileMetadata, FileTool } from "./file-options.ts";
import { missingFile } from "./file-problems.ts";
import { checkMarksInEdit } from "./redaction-marks.ts";
import { checkWellFormed, decodeFile, encodeText } from "./text-file.ts";

const OLD = z.string().describe("The text to replace, exactly as in the file, without line numbers");
const NEW = z.string().describe("The text to put there");
const ALL = z.boolean().optional().describe("Replace every occurrence; otherwise there must be exactly one");

const INPUT = z.object({
  file_path: z
    .string()
    .min(1)
    .describe("Path of the file; a relative path starts at the session's directory"),
  old_string: OLD.optional(),
  new_string: NEW.optional(),
  replace_all: ALL,
  edits: z
    .array(z.object({ old_string: OLD, new_string: NEW, replace_all: ALL }))
    .min(1)
    .max(EDITS_MAX_COUNT)
    .optional()
    .describe("Several edits instead of old_string and new_string, applied in order, all or none"),
});

export interface EditMetadata extends FileMetadata {
  readonly replacements: number;
  /** The first line that each edit changed. */
  readonly lines: readonly number[];
  readonly size_bytes: number;
}

/** The arguments of a call of Edit. */
export type EditArguments = z.input<typeof INPUT>;

export class EditTool extends FileTool<typeof INPUT, EditMetadata> {
  readonly name = "Edit";
  override readonly title = "Edit a file";
  override readonly annotations: ToolAnnotations = { destructiveHint: true, openWorldHint: false };
  readonly input = INPUT;
  readonly description =
    `Replaces text in a file that you have read with Read. old_string must match exactly, including indentation, and occur once unless replace_all is set. Leave out the line numbers that Read prints. Fails if the file has changed since you read it. Line endings, encoding and all other bytes stay as they are; the change is atomic.`;

  protected async run(
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): Promise<ToolResult<EditMetadata>> {
    const edits = editsOf(args);
    let edited: EditedText | undefined;
    const changed = await changeFile(
      args.file_path,
      {
        tool: this.name,
        what: describeContent(JSON.stringify(edits)),
        change: (before, file) => {
          if (!before) throw missingFile(file.path, file);
          const { text, encoding } = decodeFile(before, file.path);
          edited = applyEdits(text, edits, (now, wanted) => this.#redact(nearestLines(now, wanted)));
          return encodeText(edited.text, encoding);
        },
      },
      { context, options: this.options },
    );
    const { file, sizeBytes, notes } = changed;
    const { replacements, lines, notes: editNotes } = edited ?? NOT_EDITED;
    const metadata = { file_path: wirePath(file.real), replacements, lines, size_bytes: sizeBytes };
    const what = `${replacements} ${replacements === 1 ? "replacement" : "replacements"}, line ${lines.join(", ")}`;
    if (context.dryRun)
      return ToolResult.ok(`[Dry Run] Would edit: ${file.shown} (${what})`, { ...metadata, dry_run: true });
    return ToolResult.ok(`Edited ${file.shown} (${what}).`, metadata, { notes: [...editNotes, ...notes] });
  }

  #redact(text: string): string {
    const { manager, redact: hides } = this.options;
    return hides ? redact(text, { values: manager().environment.droppedValues }) : text;
  }
}

const NOT_EDITED: EditedText = { text: "", replacements: 0, lines: [], notes: [] };

/** The edits of a call: one edit from old_string and new_string, or several from `edits`. */
function editsOf({
  old_string,
  new_string,
  replace_all = false,
  edits,
}: z.output<typeof INPUT>): readonly TextEdit[] {
  const hasPair = old_string !== undefined || new_string !== undefined;
  if (edits && hasPair)
    throw new NacreError("invalid_input", "Give either old_string and new_string, or edits, not both.");
  if (!edits && (old_string === undefined || new_string === undefined)) {
    const missing = old_string === undefined ? "old_string" : "new_string";
    throw new NacreError(
      "invalid_input",
      `Parameter ${missing} is missing: give old_string and new_string, or edits.`,
    );
  }
  const all = edits ?? [{ old_string: old_string ?? "", new_string: new_string ?? "", replace_all }];
  return all.map(({ old_string: wanted, new_string: given, replace_all: isAll = false }) => {
    checkWellFormed(given, "new_string");
    // The match is exact: a mark in old_string is part of the file at that position.
    checkMarksInEdit(wanted, given);
    return { old_string: wanted, new_string: given, replace_all: isAll };
  });
}
