// The output of a shell as one text for a model: stdout, then [stderr] and stderr, sanitized and truncated.
import { redact } from "../environment/redact.ts";
import { defined } from "../support/defined.ts";
import { measureText, type TextSize } from "../text/decode.ts";
import type { LinePattern } from "../text/filter.ts";
import { plainText } from "../text/terminal.ts";
import { type TextEnds, truncateEnds } from "../text/truncate.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { fileOf, filteredTextOf, type SpoolPart, type TextSanitizer, textOf } from "./spool-text.ts";

export interface Rendered {
  readonly text: string;
  readonly truncated: boolean;
  /** The file with the whole output, if the text is truncated. */
  readonly outputFile: string | undefined;
  /** The number of lines that the filter removed. */
  readonly skipped: number;
}

export interface OutputParts {
  readonly stdout: SpoolPart;
  readonly stderr: SpoolPart;
}

export interface RenderOptions {
  readonly filter?: LinePattern | undefined;
  /** If a sandbox hides the files from the reader: the id under which BashOutput shows the whole output. */
  readonly hiddenUnder?: (() => string) | undefined;
}

export async function render(
  { stdout, stderr }: OutputParts,
  options: ResolvedExecutionOptions,
  { filter, hiddenUnder }: RenderOptions = {},
): Promise<Rendered> {
  const sanitize = sanitizerFor(options);
  const limitChars = options.maxOutputChars;
  const view = async (part: SpoolPart) =>
    filter
      ? await filteredTextOf(part, sanitize, filter, limitChars)
      : { ends: await textOf(part, sanitize, limitChars), skipped: 0 };
  const out = await view(stdout);
  const err = await view(stderr);
  const ends = joinEnds(out.ends, err.ends);
  const skipped = out.skipped + err.skipped;
  if (isWhole(ends) && sizeOfEnds(ends) <= limitChars)
    return { text: ends.head + ends.tail, truncated: false, outputFile: undefined, skipped };

  // Call fileOf() only here, where the text names the files: the call may create them.
  const [first, second] = [stdout, stderr].filter((part) => part.to > part.from).map((part) => fileOf(part));
  const where = first === undefined || second === undefined ? first : `${first} (stderr: ${second})`;
  const { text, truncated } = truncateEnds(ends, {
    limitChars,
    ...(hiddenUnder ? { outputId: hiddenUnder() } : defined({ outputFile: where })),
    // Repeat the heading: without it, the end of stderr would look like the end of stdout.
    ...(!isEmpty(err.ends) && { heading: { line: STDERR_LINE, charsFromEnd: sizeOfEnds(err.ends) } }),
  });
  return { text, truncated, outputFile: truncated ? first : undefined, skipped };
}

/**
 * Removes control sequences and redacts secrets, depending on the options. All text for a model passes through this
 * sanitizer.
 */
export function sanitizerFor({ rawOutput, redact: hide, manager }: ResolvedExecutionOptions): TextSanitizer {
  const values = manager().environment.droppedValues;
  return (text) => {
    const plain = rawOutput ? text : plainText(text);
    return hide ? redact(plain, { values }) : plain;
  };
}

const STDERR_LINE = "[stderr]\n";

/** Joins the two streams. For a large stream, only the start and the end have been read. */
function joinEnds(out: TextEnds, err: TextEnds): TextEnds {
  if (isEmpty(err)) return out;
  const before = isWhole(out) ? out.head + out.tail : out.tail;
  const gap = before === "" || before.endsWith("\n") ? STDERR_LINE : `\n${STDERR_LINE}`;
  if (isWhole(out)) return { head: before + gap + err.head, middle: err.middle, tail: err.tail };
  if (isWhole(err)) return { head: out.head, middle: out.middle, tail: out.tail + gap + err.head + err.tail };
  const between = measureText(out.tail + gap + err.head);
  return { head: out.head, middle: add(out.middle, between, err.middle), tail: err.tail };
}

function isWhole({ middle }: TextEnds): boolean {
  return middle.characters === 0;
}

function isEmpty(ends: TextEnds): boolean {
  return isWhole(ends) && ends.head === "" && ends.tail === "";
}

function sizeOfEnds({ head, middle, tail }: TextEnds): number {
  return head.length + middle.characters + tail.length;
}

function add(...sizes: readonly TextSize[]): TextSize {
  return sizes.reduce((sum, size) => ({
    characters: sum.characters + size.characters,
    lines: sum.lines + size.lines,
  }));
}
