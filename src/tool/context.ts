// What a call knows about its surroundings. Hosts build one per call; tools only read it.
// What a host's callbacks throw is dealt with elsewhere: onProgress in guarded-progress.ts.

export interface ExecutionContext {
  /** Absolute directory the call starts in. */
  readonly workingDir: string;
  /** Which session the call belongs to; without one, the default session of its scope. */
  readonly sessionId?: string;
  readonly agentId?: string;
  /** Whose shells the call can see. */
  readonly scope?: string;
  /** Say what would happen, and do nothing. */
  readonly dryRun: boolean;
  readonly timeoutMs?: number;
  /** Variables for this call only. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the call early. */
  readonly signal?: AbortSignal;
  /** Told what a running call is doing. If it throws, the call goes on and its result says so in a note. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /** Asks a person. Without it, whatever would need a person is refused. */
  readonly approve?: (request: ApprovalRequest) => Promise<boolean>;
  /**
   * What a person was asked about this call in an earlier round, for hosts that return a question and are called again
   * with the answer. `approve` then hears what would run now, even if the policy allows it by now: the answer may have
   * been given for something else.
   */
  readonly asked?: ApprovalRequest;
  /** Whatever the host wants its own tools and hooks to see. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ToolProgress {
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What a person is asked to allow, and why it needs one. The answer counts for exactly this, and for nothing else. */
export interface ApprovalRequest {
  readonly command: string;
  readonly rule: string;
  readonly reason: string;
  readonly alternative?: string;
  /** The directory the command would run in. Absolute. */
  readonly cwd: string;
  /** The session it would run in; null: a bash of its own. */
  readonly session: string | null;
  /** Whether it would run on after the call has returned. */
  readonly background: boolean;
}

/** Whether an answer to one is an answer to the other. */
export function isSameRequest(one: ApprovalRequest, other: ApprovalRequest): boolean {
  return (
    one.command === other.command &&
    one.cwd === other.cwd &&
    one.session === other.session &&
    one.background === other.background &&
    one.rule === other.rule &&
    one.reason === other.reason
  );
}

/** Everything of a context but what has a default. */
export type ContextOptions = Omit<ExecutionContext, "dryRun" | "metadata"> &
  Partial<Pick<ExecutionContext, "dryRun" | "metadata">>;

export function createContext(options: ContextOptions): ExecutionContext {
  return Object.freeze({
    ...options,
    dryRun: options.dryRun ?? false,
    metadata: Object.freeze({ ...options.metadata }),
  });
}
