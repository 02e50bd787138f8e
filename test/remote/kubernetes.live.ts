// Everything that nacre does with Kubernetes, on one real cluster: npm run remote -- kubernetes [--long].
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import type { LeasedSandbox } from "../../src/remote/fleet/fleet-engine.ts";
import { isLong } from "../fixtures/long.ts";
import { remoteContract } from "./contract.ts";
import { fleetContract } from "./fleet-contract.ts";
import { type KubernetesCluster, startKubernetes } from "./kubernetes-cluster.ts";
import { kubernetesLosses } from "./kubernetes-losses.ts";
import { kubernetesRefusals } from "./kubernetes-refusals.ts";

const links = (process.env["NACRE_REMOTE_LINKS"] ?? "").split(",");

if (links.includes("kubernetes")) {
  describe("kubernetes", () => {
    const dir = mkdtempSync(join(tmpdir(), "nacre-remote-"));
    let started: KubernetesCluster | undefined;
    let lease: LeasedSandbox;
    const cluster = (): KubernetesCluster => {
      if (started) return started;
      throw new Error("the cluster did not start");
    };
    beforeAll(async () => {
      started = await startKubernetes(dir);
      lease = await started.lease();
    }, 1_800_000);
    afterAll(async () => {
      await started?.end();
      rmSync(dir, { recursive: true, force: true });
    });

    remoteContract("the contract", {
      place: () => {
        const { kill, ...otherCuts } = cluster().cuts;
        return { url: lease.url, cut: kill, otherCuts };
      },
      outputBytes: isLong ? 1024 ** 3 : 64 * 1024 ** 2,
      cutCount: isLong ? 50 : 5,
    });
    describe("refusals", () => kubernetesRefusals(cluster));
    describe("losses", () => kubernetesLosses(cluster));
    describe("a fleet", () =>
      fleetContract({
        name: "kubernetes",
        engine: () => cluster().engine,
        source: () => cluster().engineSource,
        count: 10,
        deadlineSeconds: 60,
      }));
  });
}
