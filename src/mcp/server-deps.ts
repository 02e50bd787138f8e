// The objects that all servers of one scope share: the toolkit, and the state between requests.
import type { RequestId } from "@modelcontextprotocol/server";
import type { ShellProcess } from "../shell/shell-process.ts";
import { MCP_DELIVERY_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import type { Toolkit } from "../toolkit.ts";
import { Approvals } from "./approvals.ts";
import type { Log } from "./log.ts";
import { ShellWatch } from "./shell-watch.ts";

export interface ServerDeps {
  readonly kit: Toolkit;
  readonly log: Log;
  /** The servers see only the shells of this scope. */
  readonly scope: string;
  /** The session of this connection, if each connection has its own. */
  readonly session?: string;
  readonly approvals: Approvals;
  readonly watch: ShellWatch;
  /** Calls that have not returned yet. */
  readonly inFlight: Set<Promise<unknown>>;
  /** The shells of the scope, oldest first. */
  shells(): readonly ShellProcess[];
  /** Resolves when the answer to this request has been written to the client. */
  whenSent(id: RequestId): Promise<void>;
}

export interface ServerDepsOptions
  extends Pick<ServerDeps, "kit" | "log" | "scope" | "inFlight">,
    Partial<Pick<ServerDeps, "whenSent">> {
  /** Whether other processes can have shells of this scope. */
  readonly shared: boolean;
}

export function createServerDeps(options: ServerDepsOptions): ServerDeps {
  const { kit, scope, shared, log, inFlight, whenSent = () => sleep(MCP_DELIVERY_MS) } = options;
  const shells = () =>
    shared
      ? kit.manager.findAll().filter((shell) => shell.scope === scope)
      : kit.manager.listShells({ scope });
  const approvals = new Approvals();
  return { kit, log, scope, inFlight, shells, whenSent, approvals, watch: new ShellWatch(shells) };
}
