// The options of the execution tools. resolveExecutionOptions fills in the defaults once.

import type { NetworkAccess, SandboxProfile } from "../engine/confinement.ts";
import type { WrittenRule } from "../policy/rules-schema.ts";
import type { PolicyFacts } from "../policy/verdict.ts";
import { ShellManager } from "../shell-manager.ts";
import { Events } from "../support/events.ts";
import {
  APPROVAL_DEADLINE_MS,
  DEFAULT_TIMEOUT_MS,
  MAX_TIMEOUT_MS,
  OUTPUT_MAX_CHARS,
  PREVIEW_MAX_BYTES,
} from "../support/limits.ts";
import type { Judging } from "./judging.ts";
import type { EntryPoint } from "./ways-to-allow.ts";

export type PolicyProfile = NonNullable<PolicyFacts["profile"]>;

export interface ExecutionOptions {
  /** Manages the shells. @default the process-wide manager */
  readonly manager?: ShellManager;
  /** The timeout of a foreground command that sets no timeout itself. @default 120000 */
  readonly defaultTimeoutMs?: number;
  /** Whether a foreground command that sets no timeout has one. @default true */
  readonly defaultDeadline?: boolean;
  /** The longest timeout that a call can set. @default 600000 */
  readonly maxTimeoutMs?: number;
  /** Characters of output in one result. @default 30000 */
  readonly maxOutputChars?: number;
  /** Whether the timeout kills the command or lets it continue as a background shell. @default "kill" */
  readonly onTimeout?: "kill" | "background";
  /**
   * The longest time until a call returns. After this time, the command continues in the background until its own
   * timeout.
   * @default none
   */
  readonly returnAfterMs?: number;
  /** Time within which a person can answer an approval request. @default 600000 */
  readonly approvalDeadlineMs?: number;
  /**
   * Whether background shells outlive the host process, until their deadline. Always true in `modes`. @default false
   */
  readonly durable?: boolean;
  /** A file that each session sources once, at its start. @default "none" */
  readonly profile?: string;
  /** Whether output keeps colors, carriage returns and other control sequences. @default false */
  readonly rawOutput?: boolean;
  /** Whether background commands can get a terminal (with: ["terminals"]). @default false */
  readonly terminals?: boolean;
  /** Whether the values of dropped variables and well-known tokens are redacted in output. @default true */
  readonly redact?: boolean;
  /** The sandbox profile of the manager, for tool descriptions and for the policy. @default "off" */
  readonly sandbox?: SandboxProfile;
  readonly network?: NetworkAccess;
  readonly allowUnsandboxed?: boolean;
  /** How strict the policy is. @default "standard" */
  readonly policy?: PolicyProfile;
  /** A JSON file of rules. @default nacre/policy.json in the XDG configuration directory, if there is one */
  readonly policyFile?: string;
  /** Rules of the host, in addition to those in files. */
  readonly rules?: readonly WrittenRule[];
  /**
   * Loads the policy. Tools that share one policy get the same function. @default a loader created from these options
   */
  readonly loadJudging?: () => Promise<Judging>;
  /** Receives every verdict and approval. @default none */
  readonly events?: Events;
  /** Where the commands come from. Refusals name the flags of this entry point. @default "library" */
  readonly entryPoint?: EntryPoint;
  /** The number of bytes that the command of one preview may write. @default 1073741824 */
  readonly maxPreviewBytes?: number;
  /** Whether Bash has the parameter preview. @default false */
  readonly withPreview?: boolean;
  /** Judges a command instead of the built-in policy. */
  readonly judge?: Judging["judge"];
}

export type ResolvedExecutionOptions = Readonly<
  Required<
    Omit<ExecutionOptions, "manager" | "rules" | "policyFile" | "judge" | "entryPoint" | "returnAfterMs">
  >
> & {
  readonly returnAfterMs: number | undefined;
  /** Returns the manager. This is a function, because the process-wide manager can be reset between two calls. */
  readonly manager: () => ShellManager;
};

export function resolveExecutionOptions(options: ExecutionOptions = {}): ResolvedExecutionOptions {
  const { manager } = options;
  return {
    manager: () => manager ?? ShellManager.shared(),
    defaultTimeoutMs: options.defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    defaultDeadline: options.defaultDeadline ?? true,
    returnAfterMs: options.returnAfterMs,
    approvalDeadlineMs: options.approvalDeadlineMs ?? APPROVAL_DEADLINE_MS,
    maxTimeoutMs: options.maxTimeoutMs ?? MAX_TIMEOUT_MS,
    maxOutputChars: options.maxOutputChars ?? OUTPUT_MAX_CHARS,
    onTimeout: options.onTimeout ?? "kill",
    durable: options.durable ?? false,
    profile: options.profile ?? "none",
    rawOutput: options.rawOutput ?? false,
    terminals: options.terminals ?? false,
    redact: options.redact ?? true,
    policy: options.policy ?? "standard",
    sandbox: options.sandbox ?? "off",
    network: options.network ?? "none",
    allowUnsandboxed: options.allowUnsandboxed ?? false,
    maxPreviewBytes: options.maxPreviewBytes ?? PREVIEW_MAX_BYTES,
    withPreview: options.withPreview ?? false,
    events: options.events ?? new Events(),
    loadJudging: options.loadJudging ?? judgingLoader(options),
  };
}

/** Returns a function that loads the policy at its first call: a server must not wait for the policy when it starts. */
export function judgingLoader(options: ExecutionOptions): () => Promise<Judging> {
  let loading: Promise<Judging> | undefined;
  return () => {
    loading ??= import("./judging.ts").then(({ createJudging }) => createJudging(options));
    return loading;
  };
}
