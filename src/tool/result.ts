// What a call came to. A failed result still carries its output; both kinds have the same shape.
// Immutable: metadata and notes are copied and frozen, changes make a new result.

import type { ErrorCode } from "../support/errors.ts";
import { recognizeCopies } from "../support/realms.ts";
import { frozenCopy } from "./frozen-copy.ts";

export interface ResultNotes {
  readonly notes?: readonly string[];
}

export interface FailureDetails<M extends object> extends ResultNotes {
  readonly code: ErrorCode;
  /** What there was before it failed. */
  readonly output?: string;
  readonly metadata?: Partial<M>;
}

/** A result as one flat JSON object: `output`, the metadata keys, `error` and `error_code` on failure, `notes`. */
export interface WireResult {
  readonly output: string;
  readonly error?: string;
  readonly error_code?: ErrorCode;
  readonly notes: readonly string[];
  readonly [metadata: string]: unknown;
}

const WIRE_WORDS: ReadonlySet<string> = new Set(["output", "error", "error_code", "notes"]);

/** `instanceof ToolResult` is true for a result of another copy of this package, too: tools built with that return those. */
export class ToolResult<M extends object = Record<string, unknown>> {
  readonly success: boolean;
  readonly output: string;
  /** Set if and only if the call failed. */
  readonly error: string | undefined;
  /** Set if and only if the call failed. */
  readonly code: ErrorCode | undefined;
  /** Partial, because a call that failed early knows little. */
  readonly metadata: Readonly<Partial<M>>;
  /** One-line remarks beside the result. */
  readonly notes: readonly string[];

  private constructor(
    output: string,
    failure: { readonly error: string; readonly code: ErrorCode } | undefined,
    metadata: Partial<M>,
    notes: readonly string[],
  ) {
    this.success = failure === undefined;
    this.output = output;
    this.error = failure?.error;
    this.code = failure?.code;
    this.metadata = frozenCopy(metadata);
    this.notes = Object.freeze(notes.map(onOneLine));
    Object.freeze(this);
  }

  static ok<M extends object = Record<string, unknown>>(
    output: string,
    metadata?: M,
    { notes = [] }: ResultNotes = {},
  ): ToolResult<M> {
    return new ToolResult<M>(output, undefined, metadata ?? {}, notes);
  }

  static fail<M extends object = Record<string, unknown>>(
    error: string,
    { code, output = "", metadata = {}, notes = [] }: FailureDetails<M>,
  ): ToolResult<M> {
    return new ToolResult<M>(output, { error: error || code, code }, metadata, notes);
  }

  /** The same result with more notes at the end. */
  withNotes(...more: readonly string[]): ToolResult<M> {
    const failure = this.code && { error: this.error ?? this.code, code: this.code };
    return new ToolResult<M>(this.output, failure || undefined, this.metadata, [...this.notes, ...more]);
  }

  /** What a model reads: the error if any, the output, then the notes, each beginning on its own line. */
  toDisplay(): string {
    return [this.error ?? "", this.output, this.notes.join("\n")].reduce(onNextLine, "");
  }

  /**
   * The flat object for JSON. `notes` is always an array, so that a reader may loop without asking;
   * a metadata key that is one of our own words stays out, or it could make a success look failed.
   */
  toWire(): WireResult {
    const metadata = Object.entries(this.metadata).filter(([key]) => !WIRE_WORDS.has(key));
    return {
      output: this.output,
      ...Object.fromEntries(metadata),
      ...(this.code && { error: this.error ?? this.code, error_code: this.code }),
      notes: this.notes,
    };
  }
}

recognizeCopies(ToolResult, "nacre.ToolResult");

// Output keeps its own newlines; one is added only where two parts would share a line.
function onNextLine(text: string, part: string): string {
  if (text === "" || part === "") return text + part;
  return text.endsWith("\n") ? text + part : `${text}\n${part}`;
}

function onOneLine(note: string): string {
  return note.trim().replace(/\s*[\r\n]+\s*/g, " ");
}
