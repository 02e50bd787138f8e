// What all servers of one scope share: the toolkit, and what must be remembered from one request to the next.
import type { ShellProcess } from "../shell/shell-process.ts";
import type { Toolkit } from "../toolkit.ts";
import { Approvals } from "./approvals.ts";
import type { Log } from "./log.ts";
import { ShellWatch } from "./shell-watch.ts";

export interface ServerDeps {
  readonly kit: Toolkit;
  readonly log: Log;
  /** Whose shells are seen. */
  readonly scope: string;
  /** Which session calls run in, where connections of the scope have one each. */
  readonly session?: string;
  readonly approvals: Approvals;
  readonly watch: ShellWatch;
  /** Calls that have not come back yet. */
  readonly inFlight: Set<Promise<unknown>>;
  /** The shells of the scope, oldest first. */
  shells(): readonly ShellProcess[];
}

export interface ServerDepsOptions extends Pick<ServerDeps, "kit" | "log" | "scope" | "inFlight"> {
  /** Whether other servers may have shells of this scope, too. */
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
