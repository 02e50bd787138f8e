// Waits until a shell listens on a TCP port, or until a file exists. Reads kernel state: a line in the output can come
// too early, and a connection test cannot tell which server answers.
import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ProcessScope } from "../engine/process-scope.ts";
import {
  findHolder,
  networkNamespace,
  ownListeners,
  type SocketRow,
  socketInodes,
  socketRows,
} from "../engine/sockets.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { PORT_MAX_COUNT, READY_NAMESPACE_POLL_MS, READY_POLL_MS } from "../support/limits.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { isWithinRoots } from "../support/start-checks.ts";
import { within } from "../support/timing.ts";
import type { Outcome } from "./outcome.ts";

export type Readiness =
  | { readonly kind: "listening"; readonly port: number; readonly pid: number }
  | { readonly kind: "exists"; readonly path: string }
  /** A process of the shell listens on the port, but in a separate network namespace. */
  | { readonly kind: "unreachable"; readonly port: number; readonly pid: number; readonly remark: string }
  | { readonly kind: "ended"; readonly outcome: Outcome; readonly remark?: string }
  | { readonly kind: "expired"; readonly remark?: string };

export interface ReadyTarget {
  readonly started: StartedShell;
  readonly processes: Pick<ProcessScope, "processesOf">;
  readonly life: { readonly outcome: Outcome | undefined; readonly ended: Promise<Outcome> };
  /** On the monotonic clock. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

export function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= PORT_MAX_COUNT) return;
  throw new NacreError(
    "invalid_input",
    `The port must be a whole number from 1 to ${PORT_MAX_COUNT}; it is ${port}.`,
  );
}

export async function awaitPort(port: number, target: ReadyTarget): Promise<Readiness> {
  checkPort(port);
  const search = new ListenerSearch(port, target);
  return await poll(
    target,
    () => search.look(),
    () => search.remark,
  );
}

/** Refuses a path outside of `allowedRoots`. */
export async function awaitFile(
  path: string,
  target: ReadyTarget,
  allowedRoots: readonly string[] | undefined,
): Promise<Readiness> {
  const { workingDir } = target.started.meta;
  if (path === "" || path.includes("\0"))
    throw new NacreError("invalid_input", "The path of the file is empty or contains a NUL character.");
  const full = resolve(workingDir, path);
  checkRoots(full, allowedRoots);
  return await poll(target, async () => {
    // Check each time: a directory in the path can become a link that leads outside.
    checkRoots(full, allowedRoots);
    const isThere = exists(full) || (await existsInSandbox(full, target));
    return isThere ? { kind: "exists", path: full } : undefined;
  });
}

function checkRoots(full: string, allowedRoots: readonly string[] | undefined): void {
  if (!allowedRoots) return;
  let dir = dirname(full);
  while (!exists(dir) && dir !== dirname(dir)) dir = dirname(dir);
  if (isWithinRoots(dir, allowedRoots)) return;
  throw new NacreError(
    "invalid_input",
    `The file ${shownPath(full)} is outside the allowed directories (${allowedRoots.map(shownPath).join(", ")}).`,
  );
}

function exists(path: string): boolean {
  return attempt(() => lstatSync(fsPath(path))) !== undefined;
}

/** Whether the file exists inside the sandbox, which has its own /tmp. */
async function existsInSandbox(full: string, { started, processes }: ReadyTarget): Promise<boolean> {
  if (started.meta.confinement?.driver !== "bubblewrap") return false;
  const found = (await processes.processesOf([started])).get(started) ?? [];
  return found.some(({ pid }) => exists(join(`/proc/${pid}/root`, full)));
}

/** Calls `look` until it finds something, the shell has ended, or the time is over. */
async function poll(
  { life, deadline, signal }: ReadyTarget,
  look: () => Promise<Readiness | undefined>,
  remark: () => string | undefined = () => undefined,
): Promise<Readiness> {
  for (;;) {
    // Read the outcome before calling `look`: a condition that was met just before the end counts.
    const { outcome } = life;
    const found = await look();
    if (found) return found;
    const text = remark();
    const why = text === undefined ? {} : { remark: text };
    if (outcome) return { kind: "ended", outcome, ...why };
    const leftMs = deadline - monotonicMs();
    if (leftMs <= 0 || signal?.aborted) return { kind: "expired", ...why };
    await within(Math.min(leftMs, READY_POLL_MS), life.ended, signal);
  }
}

class ListenerSearch {
  readonly #port: number;
  readonly #target: ReadyTarget;
  #namespacesMs = Number.NEGATIVE_INFINITY;
  #foreign: { readonly inode: number; readonly remark: string } | undefined;

  constructor(port: number, target: ReadyTarget) {
    this.#port = port;
    this.#target = target;
  }

  /** Names the other process that listens on the port, if there is one. */
  get remark(): string | undefined {
    return this.#foreign?.remark;
  }

  async look(): Promise<Readiness | undefined> {
    const rows = ownListeners(this.#port);
    const inNamespaces = monotonicMs() - this.#namespacesMs >= READY_NAMESPACE_POLL_MS;
    if (rows.length === 0) this.#foreign = undefined;
    if (rows.length === 0 && !inNamespaces) return undefined;
    const pids = await this.#pids();
    const pid = holderOf(rows, pids);
    if (pid !== undefined) return { kind: "listening", port: this.#port, pid };
    if (rows.length > 0) await this.#nameForeign(rows);
    this.#namespacesMs = monotonicMs();
    return this.#lookInNamespaces(pids);
  }

  async #pids(): Promise<number[]> {
    const { started, processes } = this.#target;
    return ((await processes.processesOf([started])).get(started) ?? []).map(({ pid }) => pid);
  }

  async #nameForeign(rows: readonly SocketRow[]): Promise<void> {
    const [first] = rows;
    if (!first || this.#foreign?.inode === first.inode) return;
    const holder = await findHolder(rows);
    const name = holder
      ? `PID ${holder.pid} (${holder.command})`
      : `a process of the user with ID ${first.uid}`;
    this.#foreign = {
      inode: first.inode,
      remark: `Port ${this.#port} belongs to another process, not to this shell: ${name} listens on it.`,
    };
  }

  #lookInNamespaces(pids: readonly number[]): Readiness | undefined {
    const own = networkNamespace("self");
    const seen = new Set([own]);
    for (const pid of pids) {
      const namespace = networkNamespace(pid);
      if (namespace === undefined || seen.has(namespace)) continue;
      seen.add(namespace);
      const rows = socketRows(pid).filter(
        ({ isListening, localPort }) => isListening && localPort === this.#port,
      );
      const holder = holderOf(rows, pids);
      if (holder === undefined) continue;
      const remark = `PID ${holder} listens on port ${this.#port}, but in a network namespace of its own: the port is unreachable from outside its sandbox. Start the command without a sandbox, or with network access.`;
      return { kind: "unreachable", port: this.#port, pid: holder, remark };
    }
    return undefined;
  }
}

/** The first of these processes that has one of the sockets open. */
function holderOf(rows: readonly SocketRow[], pids: readonly number[]): number | undefined {
  if (rows.length === 0) return undefined;
  return pids.find((pid) => {
    const inodes = socketInodes(pid);
    return inodes !== undefined && rows.some(({ inode }) => inodes.has(inode));
  });
}
