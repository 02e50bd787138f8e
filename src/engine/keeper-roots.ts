// The state roots of every running nacre of this user. The command line of every keeper, of its shims and of its deputy
// (which takes over if the keeper dies) contains the keeper's directory. Sandboxes hide these roots. Each call reads
// only processes that have started since the last call. Leaves out a root when all its processes have ended.
// The user can then remove the root, and a sandbox does not start if it must mask a missing directory.
import { readFileSync, readlinkSync, statSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { markPids, NO_PIDS, type PidMark, pidsSince } from "./pids-since.ts";
import { pidNamespace } from "./process-table.ts";
import { rootOfKeeper } from "./state-dir.ts";

export class KeeperRoots {
  /** The state roots, each with its known processes. */
  readonly #roots = new Map<string, Set<number>>();
  #mark: PidMark = NO_PIDS;

  current(): readonly string[] {
    const mark = markPids();
    for (const pid of pidsSince(this.#mark)) {
      const root = rootOf(pid);
      if (root !== undefined) this.#roots.set(root, (this.#roots.get(root) ?? new Set()).add(pid));
    }
    this.#mark = mark;
    return [...this.#roots.keys()].filter((root) => this.#isInUse(root));
  }

  #isInUse(root: string): boolean {
    const pids = this.#roots.get(root) ?? new Set();
    for (const pid of pids) {
      if (rootOf(pid) === root) return true;
      pids.delete(pid);
    }
    this.#roots.delete(root);
    return false;
  }
}

const KEEPER_NAME = "nacre-keeper\0";

/** The position of the keeper's directory among the arguments in keeper-process.ts. */
const KEEPER_DIR_INDEX = 5;

function rootOf(pid: number): string | undefined {
  const line = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  if (!line?.startsWith(KEEPER_NAME)) return undefined;
  const keeperDir = line.split("\0")[KEEPER_DIR_INDEX] ?? "";
  const root = rootOfKeeper(keeperDir);
  if (root === undefined) return undefined;
  // Another user, or a command in a sandbox, could imitate a keeper to make nacre hide any directory.
  return isOurs(pid) && attempt(() => statSync(root).uid) === process.geteuid?.() ? root : undefined;
}

function isOurs(pid: number): boolean {
  const namespace = attempt(() => readlinkSync(`/proc/${pid}/ns/pid`)) ?? "";
  return (
    namespace === `pid:[${pidNamespace()}]` &&
    attempt(() => statSync(`/proc/${pid}`).uid) === process.geteuid?.()
  );
}
