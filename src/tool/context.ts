// The context of a call: its directory, its caller and its callbacks. A host builds one context per call; tools only
// read it. BaseTool.execute catches errors of onProgress.

import type { Span } from "../policy/shell-model/span.ts";
import type { ExplainedPath, Severity } from "../policy/verdict.ts";

export interface ExecutionContext {
  /** The directory in which the call starts. Absolute. */
  readonly workingDir: string;
  /** The session of the call. @default the default session of its scope */
  readonly sessionId?: string;
  readonly agentId?: string;
  /** The call sees only the shells of this scope. */
  readonly scope?: string;
  /** If true, the call only reports what it would do. */
  readonly dryRun: boolean;
  readonly timeoutMs?: number;
  /** Variables for this call only. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the call early. */
  readonly signal?: AbortSignal;
  /** Receives the progress of a running call. If it throws, the call continues and its result has a note. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /**
   * Asks a person to approve a command. Without this callback, a call that needs approval fails with
   * `approval_pending`. A person can then approve it with `nacre approve`, on the page or through `kit.approvals`.
   * After that, repeating the call runs the command.
   */
  readonly approve?: (
    request: ApprovalRequest,
    asking: ApprovalAsking,
  ) => boolean | ApprovalAnswer | Promise<boolean | ApprovalAnswer>;
  /**
   * For a protocol in which a call returns a question as its result and is repeated with the answer: the request that
   * the earlier round of this call returned. nacre then calls `approve` with the current request even if the policy now
   * allows the command, because the answer may be for a different request.
   */
  readonly asked?: ApprovalRequest;
  /**
   * Receives two functions. The host calls one of them when it knows whether the result has arrived. Until then, if the
   * result reports the end of a shell, this end does not count as reported. @default the result counts as delivered
   * when the call returns
   */
  readonly delivery?: (fate: ResultFate) => void;
  /** Data of the host for its own tools and hooks. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ResultFate {
  readonly delivered: () => void;
  readonly dropped: () => void;
}

export interface ToolProgress {
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A command that needs approval, and the reason. An answer is valid only for an identical request. */
export interface ApprovalRequest {
  readonly command: string;
  /**
   * What the command does, in the words of the agent. nacre does not verify this text, and an answer is valid even if
   * it changes.
   */
  readonly description?: string;
  readonly rule: string;
  readonly reason: string;
  readonly alternative?: string;
  /** The directory in which the command would run. Absolute. */
  readonly cwd: string;
  /** The session in which the command would run; null for a separate bash. */
  readonly session: string | null;
  /** Whether the command would continue to run after the call returns. */
  readonly background: boolean;
  readonly severity: Severity;
  /** The part of the command that the rule matched, in UTF-16 offsets; null if the rule names no part. */
  readonly span: Span | null;
  /** What the command would do to which paths, as far as the policy knows. */
  readonly effects: readonly ApprovalEffect[];
  /** The changes in a preview of this command, if an uncommitted preview exists. */
  readonly preview?: PreviewSummary;
}

/** The changes in a preview: counts, and the first paths, relative to the workspace. */
export interface PreviewSummary {
  readonly id: string;
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
  readonly not_captured: number;
  /** Each path has a sign in front: `+ new.txt`, `~ changed.txt`, `- gone.txt`. */
  readonly paths: readonly string[];
}

export interface ApprovalAnswer {
  readonly allow: boolean;
  /** The reason for the answer. The result of a refused call shows it. */
  readonly reason?: string;
  /** Where the answer came from, for the record. @default "approve callback" */
  readonly by?: string;
  /** The later commands with the same effect that this answer also covers. @default only this command */
  readonly remember?: RememberWish;
}

/** For which later commands an answer counts, and until when. */
export interface RememberWish {
  /** "session": commands of the same session. "workspace": commands of every agent in the same workspace. */
  readonly lasts: "session" | "workspace";
  /** @default 8 hours */
  readonly forMs?: number;
  /** "exact": only the same paths. "class": other paths of the same classes, too. @default "exact" */
  readonly paths?: "exact" | "class";
}

/** The record of a request, for the callback that asks a person. */
export interface ApprovalAsking {
  /** The id for `nacre approve` and `kit.approvals`. */
  readonly id: string;
  /** When the request expires. */
  readonly deadline: Date;
  /** Whether an answer can also count for later commands with the same effect. */
  readonly rememberable: boolean;
  /** Aborts when no answer is needed any more: another answer came, the deadline passed, or the call was cancelled. */
  readonly signal: AbortSignal;
}

/** An approve callback throws this error if the host will pass the answer with a later call. */
export class AnswerComesLater extends Error {
  override readonly name = "AnswerComesLater";
}

/** What the command would do to a path. */
export type ApprovalEffect = ExplainedPath;

/** Whether an answer to one request is valid for the other. */
export function isSameRequest(one: ApprovalRequest, other: ApprovalRequest): boolean {
  return (
    one.command === other.command &&
    one.cwd === other.cwd &&
    one.session === other.session &&
    one.background === other.background &&
    one.rule === other.rule &&
    one.reason === other.reason &&
    isSameEffects(one.effects, other.effects)
  );
}

function isSameEffects(one: readonly ApprovalEffect[], other: readonly ApprovalEffect[]): boolean {
  const textOf = (effects: readonly ApprovalEffect[]) =>
    JSON.stringify(
      effects.map(({ effect, path, class: kind, recursive }) => [effect, path, kind, recursive]),
    );
  return textOf(one) === textOf(other);
}

/** A context in which the properties with a default are optional. */
export type ContextOptions = Omit<ExecutionContext, "dryRun" | "metadata"> &
  Partial<Pick<ExecutionContext, "dryRun" | "metadata">>;

export function createContext(options: ContextOptions): ExecutionContext {
  return Object.freeze({
    ...options,
    dryRun: options.dryRun ?? false,
    metadata: Object.freeze({ ...options.metadata }),
  });
}
