// The Write tool: creates a file, or replaces the whole content of a file that was read before.
import { z } from "zod";
import { attempt } from "../support/attempt.ts";
import { wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import type { ToolAnnotations } from "../tool/tool.ts";
import { changeFile } from "./change-file.ts";
import { describeContent } from "./file-admission.ts";
import { type FileMetadata, FileTool } from "./file-options.ts";
import { checkMarksInContent } from "./redaction-marks.ts";
import { checkWellFormed, decodeFile } from "./text-file.ts";

const INPUT = z.object({
  file_path: z
    .string()
    .min(1)
    .describe("Path of the file; a relative path starts at the session's directory"),
  content: z.string().describe("The whole content of the file, written as UTF-8"),
});

export interface WriteMetadata extends FileMetadata {
  readonly created: boolean;
  readonly size_bytes: number;
}

/** The arguments of a call of Write. */
export type WriteArguments = z.input<typeof INPUT>;

export class WriteTool extends FileTool<typeof INPUT, WriteMetadata> {
  readonly name = "Write";
  override readonly title = "Write a file";
  override readonly annotations: ToolAnnotations = { destructiveHint: true, openWorldHint: false };
  readonly input = INPUT;
  readonly description =
    `Creates a file with this content, and missing parent directories. Replaces an existing file only if you have read it with Read and it has not changed since; to change a part of a file, use Edit. The change is atomic.`;

  protected async run(
    context: ExecutionContext,
    { file_path, content }: z.output<typeof INPUT>,
  ): Promise<ToolResult<WriteMetadata>> {
    checkWellFormed(content, "content");
    const bytes = Buffer.from(content);
    const { file, created, sizeBytes, notes } = await changeFile(
      file_path,
      {
        tool: this.name,
        what: describeContent(bytes),
        change: (before, { path }) => {
          const text = before && attempt(() => decodeFile(before, path).text);
          checkMarksInContent(text, content);
          return bytes;
        },
      },
      { context, options: this.options },
    );
    const metadata = { file_path: wirePath(file.real), created, size_bytes: sizeBytes };
    if (context.dryRun) {
      const text = `[Dry Run] Would ${created ? "create" : "replace"}: ${file.shown} (${sizeBytes} bytes)`;
      return ToolResult.ok(text, { ...metadata, dry_run: true });
    }
    const text = `${created ? "Created" : "Replaced"} ${file.shown} (${sizeBytes} bytes).`;
    return ToolResult.ok(text, metadata, { notes });
  }
}
