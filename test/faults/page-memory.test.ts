// The memory of nacre ui and of its page, while 50 shells together print 1,000 lines a second. Neither may
// grow in the second half of the run, which takes 60 seconds, or ten minutes with NACRE_LONG=1.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { useShells } from "../fixtures/shells.ts";
import { noBrowser, useBrowser } from "../ui/browser.ts";
import { program } from "../ui/ui-program.ts";

const { manager: newManager, directory } = useShells();
const open = useBrowser();

const SHELLS = 50;
const LINES_PER_SECOND = 1_000;
const SECONDS = isLong ? 600 : 60;
const MIB = 1024 ** 2;
/** Tolerance for one garbage collection. A leak of one line per row and refresh would be 20 MiB in 30 seconds. */
const HEAP_GROWTH_MAX_BYTES = 4 * MIB;
/** Larger than the limit on the heap, because V8 decides when it returns memory to the system. */
const RSS_GROWTH_MAX_BYTES = 24 * MIB;

/** Collects garbage and prints the live heap whenever the process gets SIGUSR2. */
const PROBE =
  'process.on("SIGUSR2", () => { gc(); console.error("heap", process.memoryUsage().heapUsed); });';

interface Memory {
  readonly serverHeap: number;
  readonly serverRss: number;
  readonly pageHeap: number;
}

test.skipIf(noBrowser !== undefined)(
  `${SHELLS} shells on the page for ${SECONDS} s: no memory grows`,
  { timeout: 3_600_000 },
  async () => {
    const dir = directory();
    const manager = newManager({ maxLiveShells: SHELLS });
    const pause = (SHELLS / LINES_PER_SECOND).toFixed(4);
    // Wait with read, which needs no fork: 1,000 forks a second would keep the machine busy.
    const command = `i=0; while :; do echo "line $((i++)) of a program that prints quite a lot of text"; read -rt ${pause} <&9; done 9<> <(:)`;
    for (let number = 0; number < SHELLS; number++)
      await manager.createShell({ command, workingDir: dir, name: `shell-${number}` });
    const probe = join(dir, "probe.cjs");
    writeFileSync(probe, PROBE);
    const words = ["--expose-gc", "--require", probe, program, "ui", "--json", "--no-open", "--port", "0"];
    const server = spawn(process.execPath, words, {
      env: { PATH: process.env["PATH"], HOME: dir, NACRE_HOME: manager.root.path },
      stdio: ["ignore", "pipe", "pipe"],
    });
    try {
      const [line] = await once(createInterface({ input: server.stdout }), "line");
      const { url, token } = JSON.parse(String(line));
      const { page } = await open({ link: `${url}#token=${token}` });
      await page.locator("button.row", { hasText: "shell-7:" }).click();
      await page.locator(".log .ln").first().waitFor();
      // The first seconds compile code, fill the page and size the heaps.
      await seconds(SECONDS / 2);
      const middle = await memoryOf(server, page);
      await seconds(SECONDS / 2);
      const end = await memoryOf(server, page);
      const grown = (name: keyof Memory) => end[name] - middle[name];
      console.log(
        `${SECONDS} s: ${(["serverHeap", "serverRss", "pageHeap"] as const)
          .map((name) => `${name} ${(middle[name] / MIB).toFixed(1)} -> ${(end[name] / MIB).toFixed(1)} MiB`)
          .join(", ")}`,
      );
      expect(grown("serverHeap")).toBeLessThan(HEAP_GROWTH_MAX_BYTES);
      expect(grown("serverRss")).toBeLessThan(RSS_GROWTH_MAX_BYTES);
      expect(grown("pageHeap")).toBeLessThan(2 * HEAP_GROWTH_MAX_BYTES);
    } finally {
      const exited = once(server, "exit");
      server.kill("SIGTERM");
      await exited;
    }
  },
);

/** Waits for real time, because this test measures memory over time. */
async function seconds(count: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, count * 1_000));
}

async function memoryOf(server: ChildProcess, page: Page): Promise<Memory> {
  const { pid = 0, stderr } = server;
  // Read the RSS before the collection, which returns memory.
  const serverRss = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]) * 4_096;
  const printed = once(stderr ?? server, "data");
  server.kill("SIGUSR2");
  const [, heap = ""] = /heap (\d+)/.exec(String((await printed)[0])) ?? [];
  expect(Number(heap), "the server printed no heap size").toBeGreaterThan(0);
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return { serverHeap: Number(heap), serverRss, pageHeap: usedSize };
}
