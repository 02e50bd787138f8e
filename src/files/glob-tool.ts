// The Glob tool: lists files with a path that matches a pattern, except files that .gitignore and .ignore exclude.
import { z } from "zod";
import { NacreError } from "../support/errors.ts";
import { GLOB_RESULTS_MAX_COUNT } from "../support/limits.ts";
import { wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import type { ToolAnnotations } from "../tool/tool.ts";
import { type FileMetadata, FileTool } from "./file-options.ts";
import { absoluteFrom, firstEntries, relativeTo, shownFrom, sortedPaths } from "./found-paths.ts";
import { globPattern } from "./glob-pattern.ts";
import { readPaths } from "./grep-output.ts";
import { listCommand, type SearchProgram } from "./search-command.ts";
import { searchIn } from "./search-run.ts";

const INPUT = z.object({
  pattern: z
    .string()
    .min(1)
    .describe(
      'Such as "**/*.ts" or "src/**/test_*.py"; a pattern without a slash matches names at any depth',
    ),
  path: z.string().min(1).optional().describe("Directory to search, the session's directory if not given"),
});

export interface GlobMetadata extends FileMetadata {
  /** Number of files in the result. `total_files` counts all files that match. */
  readonly files: number;
  readonly total_files: number;
  readonly truncated: boolean;
  readonly duration_ms: number;
  readonly program: SearchProgram;
}

/** The arguments of a call of Glob. */
export type GlobArguments = z.input<typeof INPUT>;

export class GlobTool extends FileTool<typeof INPUT, GlobMetadata> {
  readonly name = "Glob";
  override readonly title = "Find files";
  override readonly annotations: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
  readonly input = INPUT;
  readonly description =
    `Lists files whose path matches a glob pattern, sorted by path. Skips .git and what .gitignore and .ignore exclude. Lists up to ${GLOB_RESULTS_MAX_COUNT} files and counts the rest.`;

  protected async run(
    context: ExecutionContext,
    { pattern: source, path = "." }: z.output<typeof INPUT>,
  ): Promise<ToolResult<GlobMetadata>> {
    const pattern = globPattern(source.replace(/^\/+/, "/"), "pattern");
    if (source.startsWith("/")) {
      throw new NacreError(
        "invalid_input",
        "Parameter pattern starts with a slash: give the directory as path, and a pattern inside it.",
      );
    }
    const call = { context, options: this.options };
    const found = await searchIn(path, pattern.base, call, (root, program) =>
      listCommand(program, { root, name: pattern.name }),
    );
    const { root, start, directory, program } = found;
    const base = { file_path: wirePath(root), program };
    if (typeof found.output === "string")
      return ToolResult.ok(found.output, { ...base, dry_run: true } as GlobMetadata);
    const { stdout, isPartial, durationMs } = found.output;
    const paths = readPaths(stdout).map((one) => absoluteFrom(start, one));
    const matching = sortedPaths(paths.filter((one) => pattern.matches(relativeTo(root, one))));
    const shown = firstEntries(
      matching.slice(0, GLOB_RESULTS_MAX_COUNT).map((one) => shownFrom(directory, one)),
      GLOB_RESULTS_MAX_COUNT,
    );
    const left = matching.length - shown.length;
    const metadata = {
      ...base,
      files: shown.length,
      total_files: matching.length,
      truncated: left > 0 || isPartial,
      duration_ms: durationMs,
    };
    const notes = [
      ...(left > 0 ? [`${left} more files match: use a narrower pattern or path.`] : []),
      ...(isPartial ? ["The search was ended early: there are more files. Use a narrower path."] : []),
      ...found.notes,
    ];
    const text = shown.length === 0 ? `No file matches ${source}.` : `${shown.join("\n")}\n`;
    return ToolResult.ok(text, metadata, { notes });
  }
}
