import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { useShells } from "../fixtures/shells.ts";
import { type Described, useSpecialHosts } from "../fixtures/special-host.ts";

const { manager, run, directory } = useShells();
const specialHost = useSpecialHosts();

const MIB = 1024 ** 2;
const SIZE = isLong ? 2 * 1024 * MIB : 128 * MIB;

interface Followed extends Described {
  readonly chars: number;
  readonly grownMib: number;
  readonly busyMs: number;
}

/** How long the host may block its event loop. A few reads at a time need only a few milliseconds. */
const BUSY_MAX_MS = 100;
const GROWTH_MAX_MIB = 32;

test.each([
  ["follows it live", "live", SIZE],
  ["polls for new output", "polls", SIZE],
  ["waits for a line that never comes", "search", 0],
])(
  `a host that ${"%s"} grows by no more than 32 MiB over one line of ${SIZE / MIB} MiB`,
  { timeout: 300_000 },
  async (_, how, chars) => {
    const host = specialHost();
    await host.manager({ stateRoot: directory() });
    const { id, files } = await host.start({ command: `head -c ${SIZE} /dev/zero` });
    const followed = await host.ask<Followed>("follow", { id, how }, 280_000);
    expect(followed).toMatchObject({ chars, exitCode: 0, remarks: [] });
    expect(statSync(files.stdout).size).toBe(SIZE);
    expect(followed.grownMib).toBeLessThanOrEqual(GROWTH_MAX_MIB);
    expect(followed.busyMs).toBeLessThan(BUSY_MAX_MS);
  },
);

test("the same measurements detect a host that reads 300 MiB at once", { timeout: 300_000 }, async () => {
  const host = specialHost();
  await host.manager({ stateRoot: directory() });
  const { id } = await host.start({ command: `head -c ${300 * MIB} /dev/zero` });
  const followed = await host.ask<Followed>("follow", { id, how: "in one go" }, 280_000);
  expect(followed.chars).toBe(300 * MIB);
  expect(followed.grownMib).toBeGreaterThan(GROWTH_MAX_MIB);
  expect(followed.busyMs).toBeGreaterThan(BUSY_MAX_MS);
});

test("output that no reader reads neither increases the host's memory nor makes the command wait", async () => {
  const before = process.memoryUsage.rss();
  const shell = await run(manager(), `head -c ${200 * MIB} /dev/zero; echo >&2 done`);
  expect(statSync(shell.outputFiles.stdout).size).toBe(200 * MIB);
  expect(shell.exitCode).toBe(0);
  expect((process.memoryUsage.rss() - before) / MIB).toBeLessThanOrEqual(32);
});

test("output too large for one string is refused with the name of its file", async () => {
  const shell = await run(manager(), `head -c ${65 * MIB} /dev/zero`);
  expect(() => shell.getAllOutput()).toThrow(
    `too many for one string. Read ${shell.outputFiles.stdout} in parts`,
  );
});

test("a large backlog arrives in several reads, without a lost byte or a split character", async () => {
  const shell = await run(manager(), "yes 'ä€𝄞' | head -n 2000000 | tr -d '\\n'");
  let text = "";
  let reads = 0;
  for (let piece = shell.getNewOutput(); piece !== ""; piece = shell.getNewOutput()) {
    text += piece;
    reads++;
  }
  expect(reads).toBeGreaterThan(1);
  expect(text === "ä€𝄞".repeat(2_000_000)).toBe(true);
});

test("twenty shells that print at the same time lose no byte", async () => {
  const shells = manager();
  const all = await Promise.all(
    Array.from({ length: 20 }, () => run(shells, "seq 1 200000; seq 1 200000 >&2")),
  );
  const expected = Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join("").length;
  for (const shell of all) {
    expect(statSync(shell.outputFiles.stdout).size).toBe(expected);
    expect(statSync(shell.outputFiles.stderr).size).toBe(expected);
    expect(shell).toMatchObject({ exitCode: 0, remarks: [] });
  }
});
