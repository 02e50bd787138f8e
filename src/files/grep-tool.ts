// The Grep tool: returns the lines that match a regular expression, the files that contain such lines, or their number.
import { z } from "zod";
import { secretSpans } from "../environment/redact.ts";
import {
  SEARCH_CONTEXT_LINES_MAX_COUNT,
  SEARCH_LINE_MAX_CHARS,
  SEARCH_RESULTS_MAX_COUNT,
} from "../support/limits.ts";
import { wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import type { ToolAnnotations } from "../tool/tool.ts";
import { type FileMetadata, FileTool } from "./file-options.ts";
import { absoluteFrom, firstEntries, relativeTo, shownFrom, sortedPaths } from "./found-paths.ts";
import { type GlobPattern, globPattern } from "./glob-pattern.ts";
import { type GrepLine, readCounts, readGrepLines, readPaths } from "./grep-output.ts";
import { grepCommand, type SearchProgram } from "./search-command.ts";
import { type SearchFound, type SearchOutput, searchIn } from "./search-run.ts";

const LINES = z.int().min(0).max(SEARCH_CONTEXT_LINES_MAX_COUNT).optional();

const INPUT = z.object({
  pattern: z.string().min(1).describe("Regular expression (Rust syntax, no look-around or back-references)"),
  path: z.string().min(1).optional().describe("File or directory, the session's directory if not given"),
  glob: z.string().min(1).optional().describe('Only files that match, such as "*.ts" or "src/**/*.py"'),
  type: z
    .string()
    .regex(/^[a-z0-9+-]{1,40}$/i)
    .optional()
    .describe("Only files of this type: js, py, rust, go …"),
  output_mode: z
    .enum(["content", "files_with_matches", "count"])
    .default("files_with_matches")
    .describe(
      "Matching lines as path:number:text, the paths of files that match, or matching lines per file",
    ),
  context_before: LINES.describe("Lines before each match, for content"),
  context_after: LINES.describe("Lines after each match, for content"),
  context: LINES.describe("Lines before and after each match, for content"),
  ignore_case: z.boolean().optional(),
  multiline: z.boolean().optional().describe("Let a match span lines, and . match a newline"),
  head_limit: z
    .int()
    .min(1)
    .optional()
    .describe(`Most lines or files in the result, ${SEARCH_RESULTS_MAX_COUNT} if not given`),
});

export interface GrepMetadata extends FileMetadata {
  readonly output_mode: "content" | "files_with_matches" | "count";
  /** Number of matching lines; with output_mode files_with_matches, number of matching files. */
  readonly matches: number;
  readonly files: number;
  /** Number of lines or files that the result leaves out. */
  readonly left_out: number;
  readonly truncated: boolean;
  /** Number of secrets that were replaced by a mark. */
  readonly redacted: number;
  readonly duration_ms: number;
  readonly program: SearchProgram;
}

/** The arguments of a call of Grep. */
export type GrepArguments = z.input<typeof INPUT>;

type Args = z.output<typeof INPUT>;

/** The matches of a search, sorted by path. */
interface Matches {
  readonly entries: readonly string[];
  readonly matches: number;
  readonly files: number;
}

export class GrepTool extends FileTool<typeof INPUT, GrepMetadata> {
  readonly name = "Grep";
  override readonly title = "Search in files";
  override readonly annotations: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
  readonly input = INPUT;
  readonly description =
    `Searches files for a regular expression, sorted by path. Skips binary files, .git and what .gitignore and .ignore exclude. Returns the first ${SEARCH_RESULTS_MAX_COUNT} lines or files and counts the rest.`;

  protected async run(context: ExecutionContext, args: Args): Promise<ToolResult<GrepMetadata>> {
    const { path = ".", output_mode: mode } = args;
    const glob = args.glob === undefined ? undefined : globPattern(args.glob, "glob");
    const call = { context, options: this.options };
    const found = await searchIn(path, "", call, (root, program) =>
      grepCommand(program, {
        root,
        name: glob?.name,
        pattern: args.pattern,
        mode,
        type: args.type,
        before: args.context_before ?? args.context ?? 0,
        after: args.context_after ?? args.context ?? 0,
        ignoreCase: args.ignore_case ?? false,
        multiline: args.multiline ?? false,
      }),
    );
    const base = { file_path: wirePath(found.root), program: found.program, output_mode: mode };
    if (typeof found.output === "string")
      return ToolResult.ok(found.output, { ...base, dry_run: true } as GrepMetadata);
    const { stdout, isPartial, durationMs } = found.output;
    const all = matchesIn(found, found.output, glob, args);
    const shown = firstEntries(all.entries, args.head_limit ?? SEARCH_RESULTS_MAX_COUNT);
    const left = all.entries.length - shown.length;
    const { text, redacted } = this.#redact(
      shown.length === 0 ? "No matches found." : `${shown.join("\n")}\n`,
    );
    const metadata = {
      ...base,
      matches: all.matches,
      files: all.files,
      left_out: left,
      truncated: left > 0 || isPartial,
      redacted,
      duration_ms: durationMs,
    };
    // If the call names a binary file, ripgrep reports only that the file matches.
    const isBinary = all.files === 0 && BINARY_FILE.test(stdout.toString("latin1"));
    const notes = [
      ...(isBinary ? ["The file is binary: it matches, but its lines are not shown."] : []),
      ...(left > 0
        ? [
            `${left} more ${mode === "content" ? "lines" : "files"} were left out: narrow the search, or raise head_limit.`,
          ]
        : []),
      ...(isPartial ? ["The search was ended early: there are more matches. Narrow the search."] : []),
      ...(redacted > 0 ? [`${redacted} ${redacted === 1 ? "secret was" : "secrets were"} redacted.`] : []),
      ...found.notes,
    ];
    return ToolResult.ok(text, metadata, { notes });
  }

  #redact(text: string): { readonly text: string; readonly redacted: number } {
    if (!this.options.redact) return { text, redacted: 0 };
    const spans = secretSpans(text, { values: this.options.manager().environment.droppedValues });
    let at = 0;
    const parts = spans.flatMap(({ at: start, end, mark }) => {
      const before = text.slice(at, start);
      at = end;
      return [before, mark];
    });
    return { text: parts.join("") + text.slice(at), redacted: spans.length };
  }
}

function matchesIn(
  { root, start, directory }: SearchFound,
  { stdout }: SearchOutput,
  glob: GlobPattern | undefined,
  { output_mode: mode, context = 0, context_before = context, context_after = context }: Args,
): Matches {
  const isWanted = (path: string) => !glob || path === root || glob.matches(relativeTo(root, path));
  const sorted = <V>(found: Iterable<readonly [string, V]>) => {
    const byPath = new Map([...found].map(([path, value]) => [absoluteFrom(start, path), value]));
    return sortedPaths([...byPath.keys()].filter(isWanted)).map((path) => {
      return { shown: shownFrom(directory, path), value: byPath.get(path) as V };
    });
  };
  if (mode === "files_with_matches") {
    const entries = sorted(readPaths(stdout).map((path) => [path, 0] as const)).map(({ shown }) => shown);
    return { entries, matches: entries.length, files: entries.length };
  }
  if (mode === "count") {
    const counts = sorted(readCounts(stdout));
    const matches = counts.reduce((sum, { value }) => sum + value, 0);
    return { entries: counts.map(({ shown, value }) => `${shown}:${value}`), matches, files: counts.length };
  }
  const files = sorted(readGrepLines(stdout, context_before > 0 || context_after > 0));
  const entries = files.flatMap(({ shown, value }, i) => {
    const lines = value.map((line) => lineText(shown, line));
    const hasContext = value.some(({ isMatch }) => !isMatch);
    return hasContext && i > 0 ? ["--", ...lines] : lines;
  });
  const matches = files.reduce((sum, { value }) => sum + value.filter(({ isMatch }) => isMatch).length, 0);
  return { entries, matches, files: files.length };
}

const BINARY_FILE = /: binary file matches \(found "\\0" byte around offset \d+\)\n$/;

function lineText(path: string, { number, isMatch, text }: GrepLine): string {
  if (number === undefined) return text;
  const sign = isMatch ? ":" : "-";
  const cut = text.length > SEARCH_LINE_MAX_CHARS ? `${text.slice(0, SEARCH_LINE_MAX_CHARS)}…` : text;
  return `${path}${sign}${number}${sign}${cut}`;
}
