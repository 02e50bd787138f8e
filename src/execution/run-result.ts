// The result of a run for a program: plain data that can be printed, stored and sent.
import type { Outcome } from "../shell/outcome.ts";
import type { OutputPart } from "../shell/output-part.ts";
import { joinStreams, readWhole } from "../shell/output-text.ts";
import { ALL_OUTPUT_MAX_BYTES } from "../support/limits.ts";
import type { Leftover } from "./leftovers.ts";

export interface RunResult {
  readonly command: string;
  /** Whether the command exited with code 0. */
  readonly ok: boolean;
  /** null if the exit code is not known, or if the command still runs in the background. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout; if stderr is not empty, followed by a line `[stderr]` and stderr. */
  readonly output: string;
  readonly durationMs: number;
  /** How the command ended; undefined if it still runs in the background. */
  readonly outcome: Outcome | undefined;
  readonly timedOut: boolean;
  /** Whether the caller's signal ended it. */
  readonly aborted: boolean;
  /** The signal that ended it, inferred from the exit code. */
  readonly signal: string | null;
  /** Remarks for the reader of the result, one line each. */
  readonly notes: readonly string[];
  /** Processes that the command left running. */
  readonly leftovers: readonly Leftover[];
  /** The location of the output on disk. */
  readonly parts: Readonly<Record<"stdout" | "stderr", OutputPart>>;
}

type Facts = Pick<
  RunResult,
  "command" | "exitCode" | "durationMs" | "outcome" | "leftovers" | "notes" | "parts"
>;

export interface ResultTexts {
  /** Changes the text of stderr. */
  readonly clean?: (text: string) => string;
  /** Leaves the texts empty. */
  readonly omitText?: boolean;
}

export function runResult(facts: Facts, texts: ResultTexts = {}): RunResult {
  const { outcome, parts, notes } = facts;
  const { clean = (text) => text, omitText = false } = texts;
  const read = omitText ? () => ({ text: "", note: [] }) : textOfPart;
  const { text: stdout, note: cutStdout } = read(parts.stdout, "stdout");
  const { text: rawStderr, note: cutStderr } = read(parts.stderr, "stderr");
  const stderr = clean(rawStderr);
  return {
    ...facts,
    ok: outcome?.kind === "exited" && outcome.code === 0,
    stdout,
    stderr,
    output: joinStreams(stdout, stderr),
    timedOut: outcome?.kind === "timedOut",
    aborted: outcome?.kind === "aborted",
    signal: outcome?.kind === "signaled" ? outcome.signal : null,
    notes: [...notes, ...cutStdout, ...cutStderr],
  };
}

/** The text of a part, or only its end if the whole does not fit into one string. */
function textOfPart({ path, from, to }: OutputPart, name: string): { text: string; note: string[] } {
  const start = Math.max(from, to - ALL_OUTPUT_MAX_BYTES);
  const note = `${name} has ${to - from} bytes; this is the end of it. All of it is in ${path}, from byte ${from}.`;
  return { text: readWhole(path, start, to), note: start === from ? [] : [note] };
}
