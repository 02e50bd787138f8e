// The contract of a link with the real programs: npm run remote [-- NAME…]. Each group of tests starts its daemon in a
// separate directory, and ends it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LeasedSandbox } from "../../src/remote/fleet/fleet-engine.ts";
import { slurm } from "../../src/remote/fleet/slurm-engine.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { eventually } from "../fixtures/eventually.ts";
import { isLong } from "../fixtures/long.ts";
import { failureOf, remoteContract } from "./contract.ts";
import {
  type ContainerPlace,
  debianRootfs,
  PODMAN_LIMITS,
  type RealPlace,
  startDocker,
  startPodman,
  startSlurm,
  startSshd,
} from "./real-engines.ts";
import { withVariable } from "./with-variable.ts";

const links = (process.env["NACRE_REMOTE_LINKS"] ?? "").split(",");
const LIMITS = { docker: [], podman: PODMAN_LIMITS };
const size = { outputBytes: isLong ? 1024 ** 3 : 64 * 1024 ** 2, cutCount: isLong ? 50 : 5 };

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), "nacre-remote-"));
  // Retry: a relay that is ending can still write its code cache into this directory.
  afterAll(async () => await eventually(() => rmSync(dir, { recursive: true, force: true })));
  return dir;
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

    test("a restart of sshd during a command loses nothing", async () => {
      await using kit = await createToolkit({ remote: { url: place.url, retryMaxMs: 200 } });
      const go = join(dir, "go");
      const run = kit.run(`echo began; until [ -e ${go} ]; do sleep 0.05; done; echo went; exit 3`);
      await kit.run("true");
      await place.restart();
      writeFileSync(go, "");
      expect(await run).toMatchObject({ stdout: "began\nwent\n", exitCode: 3 });
    });

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

    test("an unreachable controller is not reported as an ended job", async () => {
      const conf = join(dir, "unreachable.conf");
      const text = readFileSync(join(dir, "slurm.conf"), "utf8");
      writeFileSync(conf, text.replace(/SlurmctldPort=\d+/, "SlurmctldPort=1"));
      expect(await withVariable("SLURM_CONF", conf, () => failureOf(lease.url))).toMatch(
        /controller cannot be reached.*sinfo/s,
      );
    });

    test("a cancelled job is reported as remote_lost, with the cause", async () => {
      const other = await engine.lease({ name: "cancelled", owner: "test", deadlineSeconds: 600 });
      await using kit = await createToolkit({ remote: { url: other.url, retryMaxMs: 500 } });
      const call = kit.call("Bash", { command: "sleep 1000" });
      await kit.run("true");
      await engine.release(other.id);
      const lost = await call;
      expect([lost.success, lost.code]).toEqual([false, "remote_lost"]);
      expect(lost.error).toMatch(/no such running job|has ended this client/);
    });
  });
}
