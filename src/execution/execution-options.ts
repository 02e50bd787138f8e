// What a host may decide about the execution tools. Resolved once; past that point nothing is optional.

import type { NetworkAccess, SandboxProfile } from "../engine/confinement.ts";
import type { WrittenRule } from "../policy/rules-schema.ts";
import type { PolicyFacts } from "../policy/verdict.ts";
import { ShellManager } from "../shell-manager.ts";
import { Events } from "../support/events.ts";
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, OUTPUT_MAX_CHARS } from "../support/limits.ts";
import type { Judging } from "./judging.ts";
import type { EntryPoint } from "./ways-to-allow.ts";

export type PolicyProfile = NonNullable<PolicyFacts["profile"]>;

export interface ExecutionOptions {
  /** Whose shells the tools run. @default the process-wide one */
  readonly manager?: ShellManager;
  /** Of a foreground command that names none. @default 120000 */
  readonly defaultTimeoutMs?: number;
  /** Whether a foreground command that names no timeout has one. @default true */
  readonly defaultDeadline?: boolean;
  /** The longest a call may ask for. @default 600000 */
  readonly maxTimeoutMs?: number;
  /** What a model gets to see of one call. @default 30000 */
  readonly maxOutputChars?: number;
  /** "background": the command goes on as a background shell. @default "kill" */
  readonly onTimeout?: "kill" | "background";
  /** A call returns after this time at the latest; its command goes on in the background until its timeout. @default never */
  readonly returnAfterMs?: number;
  /** Background shells outlive the host, until their deadline. `modes` always lets them. @default false */
  readonly durable?: boolean;
  /** A file that each session sources once, when it is born. @default "none" */
  readonly profile?: string;
  /** Show output as it was printed: colours, carriage returns and all. @default false */
  readonly rawOutput?: boolean;
  /** Hide the values of dropped variables and well-known tokens in output. @default true */
  readonly redact?: boolean;
  /** What the manager's sandbox is, for the model to be told, and the policy. @default "off" */
  readonly sandbox?: SandboxProfile;
  readonly network?: NetworkAccess;
  readonly allowUnsandboxed?: boolean;
  /** How strict the policy is. @default "standard" */
  readonly policy?: PolicyProfile;
  /** A JSON file of rules. @default nacre/policy.json in the XDG configuration directory, if there is one */
  readonly policyFile?: string;
  /** Rules of the host, besides those of files. */
  readonly rules?: readonly WrittenRule[];
  /** What decides, where several tools share it. @default made from the options around it */
  readonly loadJudging?: () => Promise<Judging>;
  /** Told of every verdict and approval. @default not told */
  readonly events?: Events;
  /** Through which entryPoint commands come: refusals name its flags. @default "library" */
  readonly entryPoint?: EntryPoint;
  /** Decides about a command, in place of the built-in policy. */
  readonly judge?: Judging["judge"];
}

export type ResolvedExecutionOptions = Readonly<
  Required<
    Omit<ExecutionOptions, "manager" | "rules" | "policyFile" | "judge" | "entryPoint" | "returnAfterMs">
  >
> & {
  readonly returnAfterMs: number | undefined;
  /** Asked for at each call: the process-wide manager may be reset in between. */
  readonly manager: () => ShellManager;
};

export function resolveExecutionOptions(options: ExecutionOptions = {}): ResolvedExecutionOptions {
  const { manager } = options;
  return {
    manager: () => manager ?? ShellManager.shared(),
    defaultTimeoutMs: options.defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    defaultDeadline: options.defaultDeadline ?? true,
    returnAfterMs: options.returnAfterMs,
    maxTimeoutMs: options.maxTimeoutMs ?? MAX_TIMEOUT_MS,
    maxOutputChars: options.maxOutputChars ?? OUTPUT_MAX_CHARS,
    onTimeout: options.onTimeout ?? "kill",
    durable: options.durable ?? false,
    profile: options.profile ?? "none",
    rawOutput: options.rawOutput ?? false,
    redact: options.redact ?? true,
    policy: options.policy ?? "standard",
    sandbox: options.sandbox ?? "off",
    network: options.network ?? "none",
    allowUnsandboxed: options.allowUnsandboxed ?? false,
    events: options.events ?? new Events(),
    loadJudging: options.loadJudging ?? judgingLoader(options),
  };
}

/** Loads once, and not before it is asked: a host that says hello first need not wait for the policy. */
export function judgingLoader(options: ExecutionOptions): () => Promise<Judging> {
  let loading: Promise<Judging> | undefined;
  return () => {
    loading ??= import("./judging.ts").then(({ createJudging }) => createJudging(options));
    return loading;
  };
}
