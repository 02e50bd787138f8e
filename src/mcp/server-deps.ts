// The objects that all servers of one scope share: the toolkit, and the state between requests.
import type { ShellProcess } from "../shell/shell-process.ts";
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
}

export interface ServerDepsOptions extends Pick<ServerDeps, "kit" | "log" | "scope" | "inFlight"> {
  /** Whether other processes can have shells of this scope. */
  readonly shared: boolean;
}

export function createServerDeps(options: ServerDepsOptions): ServerDeps {
  const { kit, scope, shared, log, inFlight } = options;
  const shells = () =>
    shared
      ? kit.manager.findAll().filter((shell) => shell.scope === scope)
      : kit.manager.listShells({ scope });
  return { kit, log, scope, inFlight, shells, approvals: new Approvals(), watch: new ShellWatch(shells) };
}
