// The result of a call. A failed result has the same shape as a successful one and includes the output.
// Results are immutable: metadata and notes are frozen copies, and each change creates a new result.

import { type ErrorCode, messageOf, NacreError } from "../support/errors.ts";
import { isErrorNamed, recognizeCopies } from "../support/realms.ts";

export interface ResultNotes {
  readonly notes?: readonly string[];
}

export interface FailureDetails<M extends object> extends ResultNotes {
  readonly code: ErrorCode;
  /** The output up to the failure. */
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

const WIRE_KEYS: ReadonlySet<string> = new Set(["output", "error", "error_code", "notes"]);

/** The results that this copy of the package created. */
const made = new WeakSet<object>();

/** Like `instanceof ToolResult`, but faster for the results of this copy of the package. */
export function isToolResult<M extends object>(value: unknown): value is ToolResult<M> {
  return made.has(value as object) || value instanceof Result;
}

interface AnyResult<M extends object> {
  readonly output: string;
  /** One-line remarks about the result. */
  readonly notes: readonly string[];
  /** The same result with more notes at the end. */
  withNotes(...more: readonly string[]): ToolResult<M>;
  /** The same result with more metadata. */
  withMetadata(more: Readonly<Record<string, unknown>>): ToolResult<M>;
  /** The text for a model: the error, the output, then the notes. Each part starts on its own line. */
  toDisplay(): string;
  /**
   * The flat object for JSON. `notes` is always an array. Omits metadata keys with the names `error`, `error_code`,
   * `output` and `notes`, because they could make a success look like a failure.
   */
  toWire(): WireResult;
}

export interface ToolSuccess<M extends object = Record<string, unknown>> extends AnyResult<M> {
  readonly success: true;
  readonly error: undefined;
  readonly code: undefined;
  readonly metadata: Readonly<M>;
}

export interface ToolFailure<M extends object = Record<string, unknown>> extends AnyResult<M> {
  readonly success: false;
  readonly error: string;
  readonly code: ErrorCode;
  /** The metadata of a call that fails early has only some of the keys. */
  readonly metadata: Readonly<Partial<M>>;
}

/** A union: after `if (!result.success)`, `error` and `code` are set. */
export type ToolResult<M extends object = Record<string, unknown>> = ToolSuccess<M> | ToolFailure<M>;

interface Failure {
  readonly error: string;
  readonly code: ErrorCode;
}

class Result<M extends object> {
  readonly success: boolean;
  readonly output: string;
  readonly error: string | undefined;
  readonly code: ErrorCode | undefined;
  readonly metadata: Readonly<Partial<M>>;
  readonly notes: readonly string[];

  constructor(output: string, failure: Failure | undefined, metadata: Partial<M>, notes: readonly string[]) {
    this.success = failure === undefined;
    this.output = output;
    this.error = failure?.error;
    this.code = failure?.code;
    this.metadata = frozenCopy(metadata);
    this.notes = Object.freeze(notes.map(onOneLine));
    Object.freeze(this);
    made.add(this);
  }

  static ok(output: string, metadata = {}, { notes = [] }: ResultNotes = {}): Result<object> {
    return new Result(output, undefined, metadata, notes);
  }

  static fail(
    error: string,
    { code, output = "", metadata = {}, notes = [] }: FailureDetails<object>,
  ): Result<object> {
    return new Result(output, { error: error || code, code }, metadata, notes);
  }

  withNotes(...more: readonly string[]): Result<M> {
    const failure = this.code && { error: this.error ?? this.code, code: this.code };
    return new Result<M>(this.output, failure, this.metadata, [...this.notes, ...more]);
  }

  withMetadata(more: Readonly<Record<string, unknown>>): Result<M> {
    const failure = this.code && { error: this.error ?? this.code, code: this.code };
    return new Result<M>(this.output, failure, { ...this.metadata, ...more }, this.notes);
  }

  toDisplay(): string {
    return [this.error ?? "", this.output, this.notes.join("\n")].reduce(onNextLine, "");
  }

  toWire(): WireResult {
    const metadata = Object.entries(this.metadata).filter(([key]) => !WIRE_KEYS.has(key));
    return {
      output: this.output,
      ...Object.fromEntries(metadata),
      ...(this.code && { error: this.error ?? this.code, error_code: this.code }),
      notes: this.notes,
    };
  }
}

recognizeCopies(Result, "nacre.ToolResult");
Object.defineProperty(Result, "name", { value: "ToolResult" });

/**
 * Creates results. `instanceof` also accepts the results of a tool that was built with another copy of this package.
 */
export const ToolResult = Result as unknown as {
  readonly prototype: object;
  ok<M extends object = Record<string, unknown>>(
    output: string,
    metadata?: M,
    notes?: ResultNotes,
  ): ToolSuccess<M>;
  fail<M extends object = Record<string, unknown>>(error: string, details: FailureDetails<M>): ToolFailure<M>;
  [Symbol.hasInstance](value: unknown): value is ToolResult;
};

// Output keeps its own newlines. A newline is added only if two parts would share a line.
function onNextLine(text: string, part: string): string {
  if (text === "" || part === "") return text + part;
  return text.endsWith("\n") ? text + part : `${text}\n${part}`;
}

function onOneLine(note: string): string {
  return note.trim().replace(/\s*[\r\n]+\s*/g, " ");
}

/** A frozen copy of plain data, at every depth. Other values (dates, functions, class instances) are not copied. */
export function frozenCopy<T>(value: T): T {
  return copyPlain(value, new Set()) as T;
}

function copyPlain(value: unknown, ancestors: ReadonlySet<unknown>): unknown {
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  // A result is sent as JSON, which cannot represent a cycle: fail here, not when it is sent.
  if (ancestors.has(value)) throw new TypeError("The data of a result must not contain a cycle");
  const inside = new Set(ancestors).add(value);
  if (Array.isArray(value)) return Object.freeze(value.map((item) => copyPlain(item, inside)));
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([k, v]) => [k, copyPlain(v, inside)])));
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The failed result for a thrown value: the code of a NacreError, `aborted`, or `internal` for a bug in the tool. */
export function failureOf<M extends object>(
  thrown: unknown,
  tool: string,
  signal: AbortSignal | undefined,
): ToolResult<M> {
  if (thrown instanceof NacreError) return ToolResult.fail(messageOf(thrown), { code: thrown.code });
  if (signal?.aborted || isAbortError(thrown)) {
    return ToolResult.fail(abortMessage(tool, signal), { code: "aborted" });
  }
  return ToolResult.fail(messageOf(thrown), { code: "internal" });
}

/** The message for an aborted call. It includes the caller's reason if the signal has one. */
export function abortMessage(tool: string, signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason;
  const detail = reason === undefined || isAbortError(reason) ? "" : `: ${messageOf(reason)}`;
  return `Call to ${tool} was aborted${detail}`;
}

function isAbortError(thrown: unknown): boolean {
  return isErrorNamed(thrown, "AbortError");
}
