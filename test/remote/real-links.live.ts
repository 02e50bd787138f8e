// The contract of a link with the real programs: npm run remote [-- NAME…]. Each starts its daemon in a directory of its
// own and ends it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFleet } from "../../src/remote/fleet/fleet.ts";
import type { FleetEngine, LeasedSandbox } from "../../src/remote/fleet/fleet-engine.ts";
import { kubernetes } from "../../src/remote/fleet/kubernetes-engine.ts";
import { slurm } from "../../src/remote/fleet/slurm-engine.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { eventually } from "../fixtures/eventually.ts";
import { isLong } from "../fixtures/long.ts";
import { remoteContract } from "./contract.ts";
import {
  type ContainerPlace,
  debianRootfs,
  type KubernetesPlace,
  PODMAN_LIMITS,
  type RealPlace,
  startDocker,
  startKubernetes,
  startPodman,
  startSlurm,
  startSshd,
} from "./real-engines.ts";

const links = (process.env["NACRE_REMOTE_LINKS"] ?? "").split(",");
const LIMITS = { docker: [], podman: PODMAN_LIMITS };
const size = { outputBytes: isLong ? 1024 ** 3 : 64 * 1024 ** 2, cutCount: isLong ? 50 : 5 };

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), "nacre-remote-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function failureOf(url: string): Promise<string> {
  try {
    const kit = await createToolkit({ remote: url });
    await kit.dispose();
    return "it connected";
  } catch (error) {
    return String((error as Error).message);
  }
}

if (links.includes("ssh")) {
  describe("ssh", () => {
    const dir = scratch();
    let place: Awaited<ReturnType<typeof startSshd>>;
    beforeAll(async () => {
      place = await startSshd(dir);
    });
    afterAll(async () => await place.end());

    remoteContract("the contract", { place: () => place, ...size });

    test("an unknown host key and a wrong key are refused with the fix", async () => {
      expect(await failureOf("ssh://unknown-key")).toMatch(/host key is unknown.*Connect once with ssh/s);
      expect(await failureOf("ssh://wrong-key")).toMatch(/could not log in with your keys.*authorized_keys/s);
      expect(await failureOf("ssh://no-such-host.invalid")).toMatch(/host name cannot be resolved/);
      expect(await failureOf("ssh://here?cwd=/no/such/dir")).toMatch(/no directory \/no\/such\/dir/);
    });
  });
}

for (const [engine, start] of [
  ["docker", startDocker],
  ["podman", startPodman],
] as const) {
  if (!links.includes(engine)) continue;
  describe(engine, () => {
    const dir = scratch();
    let place: ContainerPlace;
    beforeAll(async () => {
      const rootfs = join(dir, "rootfs.tar");
      debianRootfs(rootfs);
      place = await start(dir, rootfs);
    });
    afterAll(async () => await place?.end());

    remoteContract("the contract", { place: () => place, ...size });

    test("an unknown container and an image without bash are refused with the fix", async () => {
      expect(await failureOf(`${engine}://no-such-box`)).toMatch(/no such container.*ps -a/s);
      place.engine(
        "run",
        "-d",
        "--network",
        "none",
        "--name",
        "bare",
        ...LIMITS[engine],
        "nacre-test:1",
        "sh",
        "-c",
        "rm /usr/bin/bash; exec sleep infinity",
      );
      await eventually(async () =>
        expect(await failureOf(`${engine}://bare`)).toMatch(/has no bash.*Install the package bash/s),
      );
      place.engine("rm", "-f", "bare");
    });

    test("a restarted container is reported as remote_lost", async () => {
      const kit = await createToolkit({ remote: { url: place.url, retryMaxMs: 200 } });
      const call = kit.call("Bash", { command: "sleep 1000" });
      await kit.run("true");
      place.engine("restart", "-t", "0", "box");
      expect(await call).toMatchObject({ success: false, code: "remote_lost" });
      expect((await kit.run("echo again")).stdout).toBe("again\n");
      await kit.dispose();
    });
  });
}

if (links.includes("slurm")) {
  describe("slurm", () => {
    const dir = scratch();
    let place: RealPlace;
    let lease: LeasedSandbox;
    const engine = slurm();
    beforeAll(async () => {
      place = await startSlurm(dir);
      lease = await engine.lease({ name: "contract", owner: "test", deadlineSeconds: 3_600 });
    });
    afterAll(async () => {
      await engine.release(lease.id);
      await place.end();
    });

    remoteContract("the contract", { place: () => ({ ...place, url: lease.url }), ...size });

    test("an unknown job is refused with the fix", async () => {
      expect(await failureOf("slurm://999999")).toMatch(/no such running job.*squeue/s);
    });
  });
}

if (links.includes("kubernetes")) {
  describe("kubernetes", () => {
    const dir = scratch();
    let place: KubernetesPlace;
    let lease: LeasedSandbox;
    let engine: FleetEngine;
    beforeAll(async () => {
      const rootfs = join(dir, "rootfs.tar");
      debianRootfs(rootfs);
      place = await startKubernetes(join(dir, "cluster"), rootfs);
      engine = kubernetes({ namespace: "default", podTemplate: place.template });
      lease = await engine.lease({ name: "contract", owner: "test", deadlineSeconds: 3_600 });
    }, 1_800_000);
    afterAll(async () => await place.end());

    remoteContract("the contract", { place: () => ({ ...place, url: lease.url }), ...size });

    test("an unknown pod and an account without rights are refused with the fix", async () => {
      expect(await failureOf("kubernetes://default/no-such-pod")).toMatch(/no such pod.*kubectl get pods/s);
      const admin = process.env["KUBECONFIG"];
      process.env["KUBECONFIG"] = place.limitedConfig;
      expect(await failureOf(lease.url)).toMatch(/does not allow it.*pods\/exec/s);
      process.env["KUBECONFIG"] = admin;
    });

    test("a restart of the API server loses nothing", async () => {
      const kit = await createToolkit({ remote: { url: lease.url, pingMs: 500, silentMaxMs: 3_000 } });
      const run = kit.run("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 1; done; exit 6", {
        timeoutMs: 300_000,
      });
      await kit.run("true");
      await place.restartApiServer();
      expect(await run).toMatchObject({ stdout: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", exitCode: 6 });
      await kit.dispose();
    });

    test("a deleted pod is reported as remote_lost", async () => {
      const other = await engine.lease({ name: "deleted", owner: "test", deadlineSeconds: 3_600 });
      const kit = await createToolkit({ remote: { url: other.url, retryMaxMs: 500, lingerMs: 5_000 } });
      const call = kit.call("Bash", { command: "sleep 1000" });
      await kit.run("true");
      await engine.release(other.id);
      expect(await call).toMatchObject({ success: false, code: "remote_lost" });
      await kit.dispose();
    });

    test("10 pods are leased, used and released", { timeout: 600_000 }, async () => {
      const fleet = createFleet({ engine });
      const leases = await Promise.all(Array.from({ length: 10 }, () => fleet.lease()));
      const runs = await Promise.all(leases.map(({ kit }, index) => kit.run(`echo ${index}`)));
      expect(runs.map(({ stdout }) => stdout)).toEqual(leases.map((_, index) => `${index}\n`));
      await fleet.dispose();
      await eventually(async () => expect((await fleet.list()).map(({ id }) => id)).toEqual(["contract"]));
    });

    test("Kubernetes ends a pod at its deadline", { timeout: 600_000 }, async () => {
      const short = await engine.lease({ name: "short", owner: "test", deadlineSeconds: 5 });
      await eventually(async () => {
        const found = (await engine.list()).find(({ id }) => id === short.id);
        expect(found?.status).toBe("Failed");
      });
      await engine.release(short.id);
    });
  });
}
