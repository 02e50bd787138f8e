// The tests that every fleet engine must pass.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFleet, type FleetEngine } from "../../src/index.ts";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";

export interface FleetContract {
  readonly name: string;
  readonly engine: () => FleetEngine;
  /** The expression that creates the same engine in another program. */
  readonly source: () => string;
  readonly count: number;
  readonly deadlineSeconds: number;
}

export function fleetContract({ name, engine, source, count, deadlineSeconds }: FleetContract): void {
  /** The running sandboxes. Omits those that other tests have leased with the owner "test". */
  const running = async () =>
    (await createFleet({ engine: engine() }).list()).filter(
      ({ owner, hasEnded }) => owner !== "test" && !hasEnded,
    );

  /** Starts a program that leases a sandbox. Kills the program after the lease, so that the sandbox is abandoned. */
  const leaveSandbox = async (seconds: number) => {
    const script = `
      import { createFleet, ${name} } from ${JSON.stringify(join(root, "dist/index.js"))};
      const fleet = createFleet({ engine: ${source()}, deadlineSeconds: ${seconds} });
      const { kit } = await fleet.lease();
      await kit.call("Bash", { command: "sleep 1000", run_in_background: true });
      console.log("leased");
      setInterval(() => {}, 1000);`;
    const host = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(host, "exit");
    const isLeased = await Promise.race([
      once(host.stdout, "data").then(() => true),
      exited.then(() => false),
    ]);
    expect(isLeased, "the program leased a sandbox").toBe(true);
    host.kill("SIGKILL");
    await exited;
  };

  test(`${count} sandboxes are leased, used and released`, { timeout: 600_000 }, async () => {
    await using fleet = createFleet({ engine: engine(), deadlineSeconds: 600 });
    const leases = await Promise.all(Array.from({ length: count }, () => fleet.lease({ policy: "off" })));
    expect(new Set(leases.map(({ id }) => id)).size).toBe(count);
    const session = (index: number) => leases[index]?.kit.session("s");
    await Promise.all(leases.map((_, index) => session(index)?.run(`mine=${index}`)));
    const values = await Promise.all(
      leases.map(async (_, index) => (await session(index)?.run("echo $mine"))?.stdout),
    );
    expect(values).toEqual(leases.map((_, index) => `${index}\n`));
    expect(await running()).toHaveLength(count);
    await fleet.dispose();
    await eventually(async () => expect(await running()).toEqual([]), 300_000);
  });

  test("the sandbox of a killed program can be cleaned up", { timeout: 600_000 }, async () => {
    await leaveSandbox(3_600);
    const left = await running();
    expect(left).toHaveLength(1);
    const cleaned = await createFleet({ engine: engine() }).clean();
    // Sandboxes of other tests that have ended may still be listed: clean removes these, too.
    expect(cleaned).toEqual(expect.arrayContaining(left.map(({ id }) => id)));
    await eventually(async () => expect(await running()).toEqual([]), 300_000);
  });

  test("the sandbox of a killed program ends at its deadline", { timeout: 600_000 }, async () => {
    await leaveSandbox(deadlineSeconds);
    expect(await running()).toHaveLength(1);
    await eventually(async () => expect(await running()).toEqual([]), 300_000);
  });
}
