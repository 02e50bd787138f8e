// The Read tool: returns the lines of a text file with their numbers.
import { z } from "zod";
import { NacreError } from "../support/errors.ts";
import { FILE_RESULT_MAX_CHARS, READ_LINES_MAX_COUNT } from "../support/limits.ts";
import { shownPath, wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import type { ToolAnnotations } from "../tool/tool.ts";
import type { LoadedFile } from "./disk/disk.ts";
import { type AdmittedFile, withAdmittedFile } from "./file-admission.ts";
import { type FileMetadata, FileTool, linkNotes } from "./file-options.ts";
import { missingFile, notLoaded } from "./file-problems.ts";
import { lineStarts, type ShownLines, showLines } from "./redacted-lines.ts";
import {
  decodeFile,
  type LineEndings,
  lineEndingsOf,
  type TextEncoding,
  type TextFile,
} from "./text-file.ts";

const INPUT = z.object({
  file_path: z
    .string()
    .min(1)
    .describe("Path of the file; a relative path starts at the session's directory"),
  offset: z.int().min(0).optional().describe("Number of the first line to read, 1 if not given"),
  limit: z.int().min(1).optional().describe(`Number of lines to read, ${READ_LINES_MAX_COUNT} if not given`),
});

export interface ReadMetadata extends FileMetadata {
  readonly first_line: number;
  readonly last_line: number;
  readonly total_lines: number;
  readonly size_bytes: number;
  readonly encoding: TextEncoding;
  readonly line_endings: LineEndings;
  /** Whether more lines follow or a line was cut. */
  readonly truncated: boolean;
  /** Number of secrets that were replaced by a mark. */
  readonly redacted: number;
}

/** The arguments of a call of Read. */
export type ReadArguments = z.input<typeof INPUT>;

export class ReadTool extends FileTool<typeof INPUT, ReadMetadata> {
  readonly name = "Read";
  override readonly title = "Read a file";
  override readonly annotations: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
  readonly input = INPUT;
  readonly description =
    `Reads a text file. Each line of the result is its number, a tab and the text. Reads up to ${READ_LINES_MAX_COUNT} lines; continue with offset. Edit, and Write to an existing file, need a Read of the file first. Not for directories (use Glob), images, PDFs or other binary files. Secrets are shown as [redacted:…]; do not write such marks back.`;

  protected async run(
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): Promise<ToolResult<ReadMetadata>> {
    const call = { context, options: this.options };
    return await withAdmittedFile(args.file_path, { kind: "read" }, call, async (file) => {
      if (file.kind === undefined) throw missingFile(file.path, file);
      if (context.dryRun) return dryRun(`[Dry Run] Would read: ${file.shown}`, file);
      const answer = await file.disk.load(file.real);
      if (answer.kind === "moved") return "moved";
      if (answer.kind !== "loaded") throw notLoaded(file.path, answer);
      const text = decodeFile(answer.bytes, file.path);
      const result = this.#result(file, answer, text, args);
      file.service.known.set(file.reader, file.real, answer.bytes);
      return result;
    });
  }

  #result(
    file: AdmittedFile,
    { bytes, hardLinks }: LoadedFile,
    { text, encoding }: TextFile,
    { offset = 1, limit = READ_LINES_MAX_COUNT }: z.output<typeof INPUT>,
  ): ToolResult<ReadMetadata> {
    const starts = lineStarts(text);
    const total = starts.length;
    const first = Math.max(1, offset);
    if (first > Math.max(1, total)) {
      throw new NacreError(
        "invalid_input",
        `Parameter offset is ${offset}, but ${shownPath(file.path)} has only ${total} lines.`,
      );
    }
    const last = Math.min(total, first + Math.min(limit, READ_LINES_MAX_COUNT) - 1);
    const lines = { first, last, limitChars: FILE_RESULT_MAX_CHARS };
    const shown = showLines(text, starts, lines, this.options);
    const endings = lineEndingsOf(text);
    const metadata: ReadMetadata = {
      file_path: wirePath(file.real),
      first_line: total === 0 ? 0 : first,
      last_line: shown.last,
      total_lines: total,
      size_bytes: bytes.length,
      encoding,
      line_endings: endings,
      truncated: shown.last < total || shown.cut.length > 0,
      redacted: shown.redacted,
    };
    const notes = [
      ...linkNotes(file),
      ...textNotes(metadata, text),
      ...shownNotes(shown, total, file),
      ...(hardLinks > 1 ? [`This file is a hard link: it has ${hardLinks} names.`] : []),
    ];
    return ToolResult.ok(shown.text, metadata, { notes });
  }
}

function textNotes({ encoding, line_endings, total_lines }: ReadMetadata, text: string): string[] {
  if (total_lines === 0) return ["The file is empty."];
  const endings = { crlf: "CRLF", mixed: "LF in some lines and CRLF in others" } as const;
  return [
    ...(encoding === "utf-8" ? [] : [`The file is ${ENCODINGS[encoding]}; Edit keeps that.`]),
    ...(line_endings === "crlf" || line_endings === "mixed"
      ? [`The lines end with ${endings[line_endings]}; Edit keeps that.`]
      : []),
    ...(text.endsWith("\n") ? [] : ["The last line has no newline at its end."]),
  ];
}

function shownNotes({ last, cut, redacted }: ShownLines, total: number, { path }: AdmittedFile): string[] {
  const [line] = cut;
  return [
    ...(last < total ? [`${total - last} more lines of ${total}: continue with offset ${last + 1}.`] : []),
    ...(line === undefined
      ? []
      : [
          `${cut.length === 1 ? `Line ${line} was` : `${cut.length} lines were`} cut; to see more of line ${line}: sed -n '${line}p' ${shownPath(path)} | cut -c2001-4000`,
        ]),
    ...(redacted > 0
      ? [
          `${redacted} ${redacted === 1 ? "secret was" : "secrets were"} redacted: the file has other text in place of [redacted:…]. Edit around it, and do not write the mark.`,
        ]
      : []),
  ];
}

function dryRun(text: string, { real }: AdmittedFile): ToolResult<ReadMetadata> {
  return ToolResult.ok(text, { file_path: wirePath(real), dry_run: true } as ReadMetadata);
}

const ENCODINGS = {
  "utf-8-bom": "UTF-8 with a byte order mark",
  "utf-16le": "UTF-16 (little endian)",
  "utf-16be": "UTF-16 (big endian)",
} as const;
