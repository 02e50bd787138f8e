// Fleets with an engine whose sandboxes are command links on this machine. `npm run remote` tests the real engines.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  createFleet,
  type DockerFleetOptions,
  docker,
  type FleetEngine,
  type FleetOptions,
  type KubernetesFleetOptions,
  kubernetes,
  type SlurmFleetOptions,
  slurm,
} from "../../src/index.ts";
import { FLEET_CONNECTS_MAX_COUNT } from "../../src/support/limits.ts";
import { CREATE_FLEET, DOCKER, KUBERNETES, SLURM } from "../../src/toolkit/fleet-schemas.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";
import { type RemotePlace, remotePlace } from "./remote-place.ts";
import { withVariable } from "./with-variable.ts";

/** An engine that records the names of its sandboxes. */
function localEngine(place: RemotePlace) {
  const names = new Set<string>();
  const engine: FleetEngine = {
    name: "local",
    lease: async ({ name }) => {
      names.add(name);
      return { id: name, url: place.url };
    },
    list: async () => [],
    release: async (id) => void names.delete(id),
  };
  return { engine, names };
}

test("disposing of a fleet releases even sandboxes whose lease is in progress", async () => {
  const dir = mkdtempSync(join(tmpdir(), "nacre-fleet-"));
  removeAfterRun(dir);
  const place = remotePlace(dir);
  const { engine, names } = localEngine(place);
  const fleet = createFleet({ engine });
  const leasing = fleet.lease();
  await fleet.dispose();
  await leasing;
  expect([...names]).toEqual([]);
  await expect(fleet.lease()).rejects.toThrow(/The fleet is disposed/);
  await place.end();
});

test(`at most ${FLEET_CONNECTS_MAX_COUNT} sandboxes are prepared at the same time`, async () => {
  const dir = mkdtempSync(join(tmpdir(), "nacre-fleet-"));
  removeAfterRun(dir);
  // The client program records how many client programs are running, and fails.
  const script = `cd ${dir}; mkdir c.$$; set -- c.*; echo $# >>counts; sleep 0.2; rmdir c.$$; exit 1`;
  const engine: FleetEngine = {
    name: "counting",
    lease: async ({ name }) => ({ id: name, url: `command:${JSON.stringify(["sh", "-c", script])}` }),
    list: async () => [],
    release: async () => {},
  };
  const fleet = createFleet({ engine });
  const leases = await Promise.allSettled(Array.from({ length: 12 }, () => fleet.lease()));
  expect(leases.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => "rejected"));
  const counts = readFileSync(join(dir, "counts"), "utf8").trim().split("\n").map(Number);
  expect(counts).toHaveLength(12);
  expect(Math.max(...counts)).toBeLessThanOrEqual(FLEET_CONNECTS_MAX_COUNT);
});

test("a sandbox that ends while it is prepared is reported with its deadline", async () => {
  const released: string[] = [];
  const engine: FleetEngine = {
    name: "short",
    lease: async ({ name }) => ({ id: name, url: 'command:["sh","-c","exit 137"]' }),
    list: async () => [],
    release: async (id) => void released.push(id),
  };
  const fleet = createFleet({ engine, deadlineSeconds: 2 });
  await expect(fleet.lease()).rejects.toThrow(
    /The sandbox nacre-\w+ ended before nacre was ready.*deadline is 2 s.*longer deadlineSeconds.*exit code 137/s,
  );
  expect(released).toHaveLength(1);
});

test("a sandbox is reported as ended only if its engine reports that", async () => {
  const engine: FleetEngine = {
    name: "silent",
    lease: async ({ name }) => ({ id: name, url: 'command:["false"]' }),
    list: async () => await Promise.reject(new Error("no answer")),
    release: async () => {},
  };
  const failure = await createFleet({ engine })
    .lease()
    .catch((error: Error) => error.message);
  expect(failure).toMatch(/before the greeting/);
  expect(failure).not.toMatch(/ended before nacre was ready/);
});

test.each([
  ["is removed", 0],
  ["cannot be removed", 1],
])("the error about a failed pod that %s names what remains", async (_what, deleteCode) => {
  const dir = mkdtempSync(join(tmpdir(), "nacre-fleet-"));
  removeAfterRun(dir);
  const status = { phase: "Failed", reason: "Evicted" };
  const script = `#!/bin/sh
case $1 in
get) echo '${JSON.stringify({ metadata: { name: "pod" }, status })}' ;;
delete) echo "delete $3" >>${dir}/deleted; exit ${deleteCode} ;;
esac
`;
  writeFileSync(join(dir, "kubectl"), script, { mode: 0o755 });
  const request = { name: "box", owner: "test", deadlineSeconds: 60 };
  const path = `${dir}:${process.env["PATH"]}`;
  const failure = await withVariable("PATH", path, () =>
    kubernetes({ image: "debian" })
      .lease(request)
      .catch((error: unknown) => error),
  );
  expect(failure).toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/not become ready: Evicted/),
  });
  expect(readFileSync(join(dir, "deleted"), "utf8")).toBe("delete box\n");
  const leftPod = /could not remove the pod box.*kubectl delete pod box/;
  if (deleteCode === 0) expect(String(failure)).not.toMatch(leftPod);
  else expect(String(failure)).toMatch(leftPod);
});

describe("the options of a fleet are checked before anything is leased", () => {
  const { engine, names } = localEngine({ url: "command:[]" } as RemotePlace);
  const wrong: readonly [string, () => unknown, string][] = [
    [
      "a misspelled name",
      () => createFleet({ engine, deadlineSecond: 5 } as never),
      "createFleet has no option deadlineSecond. Did you mean deadlineSeconds?",
    ],
    [
      "a negative deadline",
      () => createFleet({ engine, deadlineSeconds: -5 }),
      "The option deadlineSeconds must be a whole number of at least 1; it is -5.",
    ],
    [
      "no engine",
      () => createFleet({} as never),
      "The option engine must be an engine, such as docker({ image }); it is undefined.",
    ],
    [
      "the name of an engine",
      () => createFleet({ engine: "docker" } as never),
      'The option engine must be an engine, such as docker({ image }); it is "docker".',
    ],
    ["no image", () => docker({} as never), "The option image must be a string; it is undefined."],
    ["an empty image", () => docker({ image: "" }), 'The option image must be a string; it is "".'],
    [
      "a misspelled argument",
      () => slurm({ arg: [] } as never),
      "slurm has no option arg. Did you mean args?",
    ],
    [
      "a misspelled namespace",
      () => kubernetes({ image: "x", nameSpace: "y" } as never),
      "kubernetes has no option nameSpace. Did you mean namespace?",
    ],
  ];
  test.each(wrong)("%s", (_title, create, message) => {
    expect(create).toThrow(message);
  });

  test("every option has a check", () => {
    // The compiler checks that these names are those of the types.
    const names = <Options>(all: Record<keyof Options, 0>) => Object.keys(all).sort();
    expect([CREATE_FLEET, DOCKER, KUBERNETES, SLURM].map((shape) => Object.keys(shape).sort())).toEqual([
      names<FleetOptions>({ engine: 0, deadlineSeconds: 0 }),
      names<DockerFleetOptions>({ image: 0, args: 0 }),
      names<KubernetesFleetOptions>({ namespace: 0, image: 0, podTemplate: 0 }),
      names<SlurmFleetOptions>({ partition: 0, args: 0 }),
    ]);
  });

  test("a misspelled option of a lease", async () => {
    const fleet = createFleet({ engine });
    await expect(fleet.lease({ polcy: "off" } as never)).rejects.toThrow(
      "fleet.lease has no option polcy. Did you mean policy?",
    );
    expect([...names]).toEqual([]);
  });
});
