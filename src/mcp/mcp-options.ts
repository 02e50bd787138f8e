// The options of the server, over stdio and HTTP, and the toolkit options that follow from them.
import type { Dialect } from "../execution/endings.ts";
import type { PolicyProfile } from "../execution/execution-options.ts";
import type { ConfineOptions } from "../sandbox/sandbox.ts";
import { defined } from "../support/defined.ts";
import { DEFAULT_TIMEOUT_MS, MCP_RETURN_AFTER_MS } from "../support/limits.ts";
import type { ToolGroup, ToolkitOptions } from "../toolkit.ts";

export interface McpOptions {
  /** The directory in which commands run. Absolute. */
  readonly workingDir: string;
  /** The version that the server reports. */
  readonly version: string;
  /** @default "shells" */
  readonly dialect?: Dialect;
  /** Groups of additional tools. @default none */
  readonly with?: readonly ToolGroup[];
  /** @default "standard" */
  readonly policy?: PolicyProfile;
  /** A JSON file of rules. @default the one in the XDG configuration directory */
  readonly policyFile?: string;
  /** The file of the audit log. Absolute. @default none */
  readonly auditFile?: string;
  /** Rules in addition to those in files, for a client that sends its own. */
  readonly rules?: ToolkitOptions["rules"];
  /** Connections of one scope see each other's shells. @default one per connection, or per token over HTTP */
  readonly scope?: string;
  /** The session in which commands run. @default one per scope; over HTTP, one per connection of the older era */
  readonly session?: string;
  /**
   * What happens to a command at its timeout. "kill": nacre kills it, after 120 s if the call set no timeout.
   * "background": it continues. @default killed if the call set a timeout, otherwise it continues
   */
  readonly onTimeout?: "kill" | "background";
  /** The longest time until a call returns. @default 50 s: clients cancel a call at about 60 s */
  readonly returnAfterMs?: number;
  /** Background shells outlive the server. @default false */
  readonly durable?: boolean;
  /** Time within which a person can answer an approval request. @default 10 minutes */
  readonly approvalDeadlineMs?: number;
  /** "user": commands also get the variables of the user's shell profile. @default "none" */
  readonly shellProfile?: "none" | "user";
  /** The sandbox and the resource limits of commands. @default none */
  readonly confine?: ConfineOptions;
  /** The state root on disk. */
  readonly stateRoot?: string;
  /** "debug" logs to stderr. */
  readonly logLevel?: string;
}

export function toolkitOptions(options: McpOptions): ToolkitOptions {
  const { workingDir, session, dialect, with: groups, policy, policyFile, stateRoot, onTimeout } = options;
  return {
    workingDir,
    onTimeout: onTimeout ?? "kill",
    durable: options.durable ?? false,
    entryPoint: "mcp",
    ...options.confine,
    defaultTimeoutMs: DEFAULT_TIMEOUT_MS,
    defaultDeadline: onTimeout === "kill",
    returnAfterMs: options.returnAfterMs ?? MCP_RETURN_AFTER_MS,
    ...defined({ sessionId: session, dialect, with: groups, policy, policyFile, stateRoot }),
    ...defined({
      shellProfile: options.shellProfile,
      approvalDeadlineMs: options.approvalDeadlineMs,
      auditFile: options.auditFile,
      rules: options.rules,
    }),
  };
}
