// Runs the search program of Glob and Grep like any command: with admission, confinement, a record and limits. The
// command text consists only of fixed options and quoted words.
import { readRange } from "../engine/cursor.ts";
import { admit, dryRunLine } from "../execution/admission.ts";
import { runForeground } from "../execution/foreground.ts";
import { NacreError } from "../support/errors.ts";
import { COMPLAINT_LINES_COUNT, SEARCH_MAX_MS, SEARCH_OUTPUT_MAX_BYTES } from "../support/limits.ts";
import { directoryOf, type FileCall, pathFor, resolveSearchRoot } from "./file-admission.ts";
import { type SearchCommand, type SearchProgram, searchProgram } from "./search-command.ts";

export interface SearchOutput {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** null unless the search program exited by itself. */
  readonly exitCode: number | null;
  /** Whether the search stopped early, because of its output limit or its timeout. */
  readonly isPartial: boolean;
  readonly durationMs: number;
}

/** The output of a search, not parsed yet. */
export interface SearchFound {
  /** The directory or file of the call. */
  readonly root: string;
  /** The directory or file that the program searched: the root, or a directory below it. */
  readonly start: string;
  /** The session's directory. */
  readonly directory: string;
  readonly program: SearchProgram;
  /** In a dry run: the line to show. */
  readonly output: SearchOutput | string;
  readonly notes: readonly string[];
}

/**
 * Searches the path that a call names, or the directory `base` below that path. Throws if the program refuses the
 * pattern or cannot search at all.
 */
export async function searchIn(
  given: string,
  base: string,
  call: FileCall,
  commandFor: (start: string, program: SearchProgram) => SearchCommand,
): Promise<SearchFound> {
  const root = await resolveSearchRoot(pathFor(given, call, "path"), call);
  const start = base === "" ? root : `${root === "/" ? "" : root}/${base}`;
  const program = searchProgram(call.options.manager().environment.env["PATH"]);
  const output = await runSearch(commandFor(start, program), call);
  const found = { root, start, directory: directoryOf(call), program, output };
  if (typeof output === "string" || output.exitCode === null || output.exitCode <= 1)
    return { ...found, notes: [] };
  const complaint = complaintOf(output.stderr);
  // If the directory in the pattern does not exist, nothing matches: that is not an error.
  if (base !== "" && /No such file|not a directory/i.test(output.stderr)) return { ...found, notes: [] };
  if (output.stdout.length === 0) {
    throw new NacreError("invalid_input", `${program} could not search ${given}: ${complaint}`);
  }
  return { ...found, notes: [`Some files were not searched: ${complaint}`] };
}

function complaintOf(stderr: string): string {
  const lines = stderr.trim().split("\n");
  const text = lines.slice(0, COMPLAINT_LINES_COUNT).join(" ").replace(/\s+/g, " ");
  return lines.length > COMPLAINT_LINES_COUNT ? `${text} …` : text || "no reason given.";
}

/** In a dry run, returns the line to show. */
async function runSearch(search: SearchCommand, call: FileCall): Promise<SearchOutput | string> {
  const { env: _, ...context } = call.context;
  // End a long search early with head: the number of matching lines is unlimited, and all output of a command goes to
  // disk.
  const limit = `| head -c ${SEARCH_OUTPUT_MAX_BYTES}; exit "\${PIPESTATUS[0]}"`;
  const command = search.isLong ? `${search.command} ${limit}` : search.command;
  const admitted = await admit({ command, background: false, session: null }, context, call.options);
  if (context.dryRun) return dryRunLine(admitted);
  const shell = await runForeground(admitted, { streams: "split", timeoutMs: SEARCH_MAX_MS });
  const { outcome, exitCode, durationMs, outputParts } = shell;
  if (outcome?.kind === "aborted") throw new NacreError("aborted", "The search was cancelled by the caller.");
  const { stdout, stderr } = outputParts;
  const found = readRange(
    stdout.path,
    stdout.from,
    Math.min(stdout.to, stdout.from + SEARCH_OUTPUT_MAX_BYTES),
  );
  const complaints = readRange(stderr.path, stderr.from, stderr.to).toString();
  // Hide this shell from lists: the caller did not start it.
  call.options.manager().forget(shell);
  const isTooLong = found.length >= SEARCH_OUTPUT_MAX_BYTES;
  const hasEnded = outcome?.kind === "exited";
  return {
    stdout: found,
    stderr: complaints,
    exitCode: hasEnded ? exitCode : null,
    isPartial: isTooLong || !hasEnded,
    durationMs,
  };
}
