// Fleets with the real engines: npm run remote [-- NAME…].
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFleet, docker, slurm } from "../../src/index.ts";
import { eventually } from "../fixtures/eventually.ts";
import { isLong } from "../fixtures/long.ts";
import { type FleetContract, fleetContract } from "./fleet-contract.ts";
import { debianRootfs, type RealPlace, startDocker, startSlurm } from "./real-engines.ts";

const links = (process.env["NACRE_REMOTE_LINKS"] ?? "").split(",");

interface FleetCase extends FleetContract {
  readonly start: (dir: string) => Promise<RealPlace>;
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
    source: () => 'docker({ image: "nacre-test:1", args: ["--network", "none"] })',
    count: isLong ? 20 : 3,
    // Even a busy machine pushes the build within this time.
    deadlineSeconds: 60,
  },
  {
    name: "slurm",
    start: startSlurm,
    engine: () => slurm(),
    source: () => "slurm()",
    count: 4,
    deadlineSeconds: 60,
  },
];

for (const { start, ...fleet } of CASES) {
  if (!links.includes(fleet.name)) continue;
  describe(`a fleet of ${fleet.name}`, () => {
    const dir = mkdtempSync(join(tmpdir(), "nacre-remote-"));
    let place: RealPlace;
    beforeAll(async () => {
      place = await start(dir);
    });
    afterAll(async () => {
      await place?.end();
      rmSync(dir, { recursive: true, force: true });
    });

    fleetContract(fleet);

    // Batch jobs and pods measure their deadline differently.
    test.runIf(fleet.name === "docker")("a sandbox that ends while it is prepared is reported", async () => {
      const short = createFleet({ engine: fleet.engine(), deadlineSeconds: 1 });
      await expect(short.lease()).rejects.toThrow(/ended before nacre was ready.*deadline is 1 s/s);
      await eventually(async () => expect(await short.list()).toEqual([]));
    });
  });
}
