// What the server may be told, whichever way clients reach it, and what that means for the toolkit behind it.
import type { PolicyProfile } from "../execution/execution-options.ts";
import type { ConfineOptions } from "../sandbox/sandbox.ts";
import { DEFAULT_TIMEOUT_MS, MCP_RETURN_AFTER_MS } from "../support/limits.ts";
import type { ToolkitOptions } from "../toolkit.ts";
import type { Dialect } from "./instructions.ts";

export interface McpOptions {
  /** Where commands run. Absolute. */
  readonly workingDir: string;
  /** What the server says its version is. */
  readonly version: string;
  /** @default "shells" */
  readonly dialect?: Dialect;
  /** @default "standard" */
  readonly policy?: PolicyProfile;
  /** A JSON file of rules. @default the one in the XDG configuration directory */
  readonly policyFile?: string;
  /** Connections of one scope see each other's shells. @default one per connection, or per token over HTTP */
  readonly scope?: string;
  /** What the session is called that commands run in. @default one per scope; per connection of the older era over HTTP */
  readonly session?: string;
  /**
   * What happens to a command whose time is over. "kill": also to one without a timeout, at 120 s. "background": no command
   * is ever killed for its time. @default a timeout that was asked for kills; a command without one goes on
   */
  readonly onTimeout?: "kill" | "background";
  /** A call returns after this time at the latest. @default 50 s: clients give up at about 60 */
  readonly returnAfterMs?: number;
  /** Background shells outlive the server. @default false */
  readonly durable?: boolean;
  /** What commands may touch and use. @default everything */
  readonly confine?: ConfineOptions;
  /** Where shells are kept on disk. */
  readonly stateRoot?: string;
  /** "debug" says on stderr what is going on. */
  readonly logLevel?: string;
}

export function toolkitOptions(options: McpOptions): ToolkitOptions {
  const {
    workingDir,
    dialect,
    policy,
    policyFile,
    stateRoot,
    durable = false,
    onTimeout,
    returnAfterMs = MCP_RETURN_AFTER_MS,
  } = options;
  return {
    workingDir,
    onTimeout: onTimeout ?? "kill",
    durable,
    entryPoint: "mcp",
    ...options.confine,
    defaultTimeoutMs: DEFAULT_TIMEOUT_MS,
    defaultDeadline: onTimeout === "kill",
    returnAfterMs,
    ...(options.session === undefined ? {} : { sessionId: options.session }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(policy === undefined ? {} : { policy }),
    ...(policyFile === undefined ? {} : { policyFile }),
    ...(stateRoot === undefined ? {} : { stateRoot }),
  };
}
