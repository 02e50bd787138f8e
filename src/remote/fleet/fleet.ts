// Leases one sandbox per toolkit from an engine, and gives it back. The engine's own deadline removes what a killed
// client leaves.
import { randomBytes } from "node:crypto";
import { FLEET_DEADLINE_SECONDS } from "../../support/limits.ts";
import { createToolkit, type RemoteToolkit, type ToolkitOptions } from "../../toolkit.ts";
import { type FleetEngine, fleetOwner, isOwnerGone, type ListedSandbox } from "./fleet-engine.ts";

export interface FleetOptions {
  readonly engine: FleetEngine;
  /** After this time the engine ends a sandbox, whatever happens to this program. @default 21600 (6 hours) */
  readonly deadlineSeconds?: number;
}

/** A sandbox with its toolkit. */
export interface FleetLease {
  readonly id: string;
  readonly url: string;
  readonly kit: RemoteToolkit<"shells">;
  /** Ends the toolkit and gives the sandbox back. */
  release(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Fleet {
  /** Gets a sandbox and connects to it. The options are those of its toolkit. */
  lease(options?: Omit<ToolkitOptions, "remote" | "dialect">): Promise<FleetLease>;
  /** All sandboxes of this user that nacre has leased from this engine. */
  list(): Promise<readonly ListedSandbox[]>;
  /** Removes sandboxes whose program on this machine has ended. Returns their ids. */
  clean(): Promise<readonly string[]>;
  /** Releases every lease. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createFleet({ engine, deadlineSeconds = FLEET_DEADLINE_SECONDS }: FleetOptions): Fleet {
  const leases = new Set<FleetLease>();
  const lease: Fleet["lease"] = async (options = {}) => {
    const name = `nacre-${randomBytes(6).toString("hex")}`;
    const { id, url } = await engine.lease({ name, owner: fleetOwner(), deadlineSeconds });
    let kit: RemoteToolkit<"shells">;
    try {
      kit = await createToolkit({ ...options, remote: url });
    } catch (error) {
      await engine.release(id).catch(() => {});
      throw error;
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
    const gone = (await engine.list()).filter(({ owner }) => isOwnerGone(owner));
    await Promise.all(gone.map(({ id }) => engine.release(id)));
    return gone.map(({ id }) => id);
  };
  const dispose = async () => {
    await Promise.all([...leases].map((one) => one.release()));
  };
  return { lease, list: () => engine.list(), clean, dispose, [Symbol.asyncDispose]: dispose };
}
