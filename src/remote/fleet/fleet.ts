// Leases one sandbox per toolkit from an engine, and releases it. If the client is killed, the engine removes the
// client's sandboxes at their deadline.
import { randomBytes } from "node:crypto";
import { monotonicMs } from "../../support/clock.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import {
  FLEET_CONNECTS_MAX_COUNT,
  FLEET_DEADLINE_SECONDS,
  FLEET_END_MAX_MS,
  FLEET_POLL_MS,
} from "../../support/limits.ts";
import { checkOptions } from "../../support/option-checks.ts";
import { Semaphore } from "../../support/semaphore.ts";
import { sleep } from "../../support/timing.ts";
import { createToolkit, type RemoteToolkit, type ToolkitOptions } from "../../toolkit.ts";
import { type FleetEngine, fleetOwner, isAbandoned, type ListedSandbox } from "./fleet-engine.ts";

export interface FleetOptions {
  readonly engine: FleetEngine;
  /** The engine ends a sandbox after this time, even if this program was killed. @default 21600 (6 hours) */
  readonly deadlineSeconds?: number;
}

/** A sandbox with its toolkit. */
export interface FleetLease {
  readonly id: string;
  readonly url: string;
  readonly kit: RemoteToolkit<"shells">;
  /** Ends the toolkit and releases the sandbox. */
  release(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Fleet {
  /** Leases a sandbox and connects to it. `options`: the options of its toolkit. */
  lease(options?: Omit<ToolkitOptions, "remote" | "dialect">): Promise<FleetLease>;
  /** All sandboxes of this user that nacre has leased from this engine. */
  list(): Promise<readonly ListedSandbox[]>;
  /** Removes sandboxes that have ended, and sandboxes whose owner on this machine has ended. Returns their ids. */
  clean(): Promise<readonly string[]>;
  /** Releases every lease, including leases that are still pending. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createFleet(options: FleetOptions): Fleet {
  checkOptions("createFleet", options);
  const { engine, deadlineSeconds = FLEET_DEADLINE_SECONDS } = options;
  const leases = new Set<FleetLease>();
  /** Leases that the engine has not granted yet. */
  const pending = new Set<Promise<FleetLease>>();
  /**
   * Limits how many first connections run at the same time. Each can push 40 MB: too many at once would all time out.
   */
  const connects = new Semaphore(FLEET_CONNECTS_MAX_COUNT);
  let isDisposed = false;
  const lease: Fleet["lease"] = async (options = {}) => {
    if (isDisposed) throw new NacreError("unavailable", "The fleet is disposed: create another one.");
    checkOptions("fleet.lease", options);
    const leasing = obtain(options);
    pending.add(leasing);
    try {
      return await leasing;
    } finally {
      pending.delete(leasing);
    }
  };
  const obtain = async (options: Parameters<Fleet["lease"]>[0]) => {
    const name = `nacre-${randomBytes(6).toString("hex")}`;
    const leasedMs = monotonicMs();
    const { id, url } = await engine.lease({ name, owner: fleetOwner(), deadlineSeconds });
    let kit: RemoteToolkit<"shells">;
    try {
      using _turn = await connects.take();
      kit = await createToolkit({ ...options, remote: url });
    } catch (error) {
      // At its deadline, a sandbox closes the connection before the engine lists the sandbox as ended. So poll the
      // engine for a while.
      const isDue = monotonicMs() - leasedMs >= deadlineSeconds * 1_000;
      const hasEnded = await hasSandboxEnded(engine, id, isDue ? FLEET_END_MAX_MS : 0);
      await engine.release(id).catch(() => {});
      throw hasEnded ? endedEarly(id, deadlineSeconds, error) : error;
    }
    let releasing: Promise<void> | undefined;
    const end = async () => {
      await kit.dispose();
      await engine.release(id);
      leases.delete(leased);
    };
    const release = () => {
      releasing ??= end();
      return releasing;
    };
    const leased: FleetLease = { id, url, kit, release, [Symbol.asyncDispose]: release };
    leases.add(leased);
    return leased;
  };
  const clean = async () => {
    const gone = (await engine.list()).filter(isAbandoned);
    await Promise.all(gone.map(({ id }) => engine.release(id)));
    return gone.map(({ id }) => id);
  };
  const dispose = async () => {
    isDisposed = true;
    // Wait for pending leases: otherwise their sandboxes would run until their deadline.
    await Promise.allSettled(pending);
    await Promise.all([...leases].map((one) => one.release()));
  };
  return { lease, list: () => engine.list(), clean, dispose, [Symbol.asyncDispose]: dispose };
}

/** Whether the engine lists the sandbox as ended within `waitMs`. Returns false if the engine does not answer. */
async function hasSandboxEnded(engine: FleetEngine, id: string, waitMs: number): Promise<boolean> {
  const end = monotonicMs() + waitMs;
  for (;;) {
    const listed = await engine.list().catch(() => undefined);
    if (listed === undefined) return false;
    if (listed.find((one) => one.id === id)?.hasEnded ?? true) return true;
    if (monotonicMs() >= end) return false;
    await sleep(FLEET_POLL_MS);
  }
}

function endedEarly(id: string, deadlineSeconds: number, cause: unknown): NacreError {
  return new NacreError(
    "unavailable",
    `The sandbox ${id} ended before nacre was ready in it. Its deadline is ${deadlineSeconds} s: if that is shorter than the first connection takes, set a longer deadlineSeconds. The connection failed with: ${messageOf(cause)}`,
    { cause },
  );
}
