// Fleets with the real engines: npm run remote [-- NAME…].
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFleet, docker, type FleetEngine, slurm } from "../../src/index.ts";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";
import { isLong } from "../fixtures/long.ts";
import { debianRootfs, type RealPlace, startDocker, startSlurm } from "./real-engines.ts";

const links = (process.env["NACRE_REMOTE_LINKS"] ?? "").split(",");

interface FleetCase {
  readonly name: string;
  readonly start: (dir: string) => Promise<RealPlace>;
  readonly engine: () => FleetEngine;
  /** The same engine, as a program of its own writes it. */
  readonly source: string;
  readonly count: number;
  readonly deadlineSeconds: number;
}

const CASES: readonly FleetCase[] = [
  {
    name: "docker",
    start: async (dir) => {
      const rootfs = join(dir, "rootfs.tar");
      debianRootfs(rootfs);
      return await startDocker(dir, rootfs);
    },
    engine: () => docker({ image: "nacre-test:1", args: ["--network", "none"] }),
    source: 'docker({ image: "nacre-test:1", args: ["--network", "none"] })',
    count: isLong ? 20 : 3,
    deadlineSeconds: 10,
  },
  {
    name: "slurm",
    start: startSlurm,
    engine: () => slurm(),
    source: "slurm()",
    count: 4,
    deadlineSeconds: 60,
  },
];

for (const { name, start, engine, source, count, deadlineSeconds } of CASES) {
  if (!links.includes(name)) continue;
  describe(`a fleet of ${name}`, () => {
    const dir = mkdtempSync(join(tmpdir(), "nacre-remote-"));
    let place: RealPlace;
    beforeAll(async () => {
      place = await start(dir);
    });
    afterAll(async () => {
      await place?.end();
      rmSync(dir, { recursive: true, force: true });
    });

    test(`${count} sandboxes are leased, used and released`, { timeout: 600_000 }, async () => {
      const fleet = createFleet({ engine: engine(), deadlineSeconds: 600 });
      const leases = await Promise.all(Array.from({ length: count }, () => fleet.lease({ policy: "off" })));
      expect(new Set(leases.map(({ id }) => id)).size).toBe(count);
      const session = (index: number) => leases[index]?.kit.session("s");
      await Promise.all(leases.map((_, index) => session(index)?.run(`mine=${index}`)));
      const values = await Promise.all(
        leases.map(async (_, index) => (await session(index)?.run("echo $mine"))?.stdout),
      );
      expect(values).toEqual(leases.map((_, index) => `${index}\n`));
      expect(await fleet.list()).toHaveLength(count);
      await fleet.dispose();
      await eventually(async () => expect(await fleet.list()).toEqual([]));
    });

    test("a killed program leaves nothing after the deadline", { timeout: 600_000 }, async () => {
      const script = `
        import { createFleet, ${name} } from ${JSON.stringify(join(root, "dist/index.js"))};
        const fleet = createFleet({ engine: ${source}, deadlineSeconds: ${deadlineSeconds} });
        const { kit } = await fleet.lease();
        await kit.call("Bash", { command: "sleep 1000", run_in_background: true });
        console.log("leased");
        setInterval(() => {}, 1000);`;
      const host = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(host.stdout, "data");
      host.kill("SIGKILL");
      await once(host, "exit");
      const fleet = createFleet({ engine: engine() });
      expect(await fleet.list()).toHaveLength(1);
      if (name === "slurm") expect(await fleet.clean()).toHaveLength(1);
      await eventually(async () => expect(await fleet.list()).toEqual([]), 300_000);
    });
  });
}
