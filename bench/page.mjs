// The page with 50 shells that together print 1,000 lines a second. The page shows the output of one shell. Measures the
// longest task in the browser, the CPU time of the server, and the memory of both at the beginning and the end.
// BENCH_PAGE_SECONDS=600 extends the run to ten minutes.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ShellManager } from "nacre";
import { chromium } from "playwright-core";
import { mib, sleep } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { absent, note, table, target } from "./shared/report.mjs";

const SHELLS = amount(50, 5);
const LINES_PER_SECOND = 1_000;
const SECONDS = Number(process.env.BENCH_PAGE_SECONDS ?? amount(60, 4));
const CLOCK_TICK_MS = 10;
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"].find((path) => existsSync(path));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
];
const program = join(dirname(fileURLToPath(import.meta.url)), "../dist/cli/main.js");

/** Live heap of the server after each full collection, in MB. Resident memory is less exact, because V8 collects late. */
const liveHeaps = [];

if (CHROMIUM !== undefined) await measurePage();
else absent("the page", "chromium is not installed");

async function measurePage() {
  const stateRoot = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const manager = new ShellManager({ stateRoot, maxLiveShells: SHELLS });
  let server;
  let browser;
  try {
    const pause = (SHELLS / LINES_PER_SECOND).toFixed(4);
    // `read` waits without a fork. Otherwise the benchmark would measure 1,000 forks a second instead of the page.
    const command = `i=0; while :; do echo "line $((i++)) of a program that prints quite a lot of text"; read -rt ${pause} <&9; done 9<> <(:)`;
    for (let number = 0; number < SHELLS; number++)
      await manager.createShell({ command, workingDir: stateRoot, name: `shell-${number}` });
    server = spawn(process.execPath, ["--trace-gc", program, "ui", "--json", "--no-open", "--port", "0"], {
      env: { ...process.env, NACRE_HOME: stateRoot },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { url, token } = JSON.parse(await firstJson(createInterface({ input: server.stdout })));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    report(await watch(browser, `${url}#token=${token}`, server.pid));
  } finally {
    await browser?.close();
    server?.kill();
    await manager.dispose();
    rmSync(stateRoot, { recursive: true, force: true });
  }
}

async function firstJson(lines) {
  return await new Promise((resolve) => {
    lines.on("line", (line) => {
      const live = /Mark-Compact.* -> ([\d.]+) \(/.exec(line)?.[1];
      if (live !== undefined) liveHeaps.push(Number(live));
      if (line.startsWith("{")) resolve(line);
    });
  });
}

async function watch(browser, link, pid) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(link);
  await page.locator("button.row").first().click();
  await page.locator(".log .ln").first().waitFor();
  // Skip the first seconds, in which code is compiled, the page fills and the heaps grow.
  await sleep(amount(20, 1) * 1_000);
  await page.evaluate(() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) =>
      globalThis.tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({
      type: "longtask",
    });
  });
  const before = { ticks: ticksOf(pid), ...(await memory(page, pid)) };
  const startMs = performance.now();
  await sleep(SECONDS * 1_000);
  const elapsedMs = performance.now() - startMs;
  const after = { ticks: ticksOf(pid), ...(await memory(page, pid)) };
  return { before, after, elapsedMs, tasks: await page.evaluate(() => globalThis.tasks) };
}

function report({ before, after, elapsedMs, tasks }) {
  const cpu = (100 * (after.ticks - before.ticks) * CLOCK_TICK_MS) / elapsedMs;
  table(
    `${SHELLS} shells that print ${LINES_PER_SECOND} lines a second together, ${SECONDS} s`,
    [
      "tasks over 50 ms in the page",
      "longest, ms",
      "CPU of the server, %",
      "server, RSS",
      "page, JavaScript heap",
    ],
    [
      [
        tasks.length,
        Math.max(0, ...tasks),
        cpu,
        `${mib(before.rss)} -> ${mib(after.rss)}`,
        `${mib(before.heap)} -> ${mib(after.heap)}`,
      ],
    ],
  );
  target("tasks over 50 ms in the page", tasks.length, { atMost: 0 });
  target("CPU time of the server", cpu, { atMost: 5 }, " %");
  const [firstHeap, lastHeap] = [liveHeaps.at(0), liveHeaps.at(-1)];
  table(
    "Live heap of the server after a full collection, MB",
    ["first", "last", "collections"],
    [[firstHeap, lastHeap, liveHeaps.length]],
  );
  target("growth of the live heap of the server", lastHeap - firstHeap, { atMost: 5 }, " MB");
  target(
    "growth of the JavaScript heap of the page",
    (after.heap - before.heap) / 1024 ** 2,
    { atMost: 20 },
    " MiB",
  );
  note("The browser measures tasks (longtask). The server is the process of `nacre ui`.");
}

function ticksOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

async function memory(page, pid) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
  return { rss: pages * 4_096, heap: usedSize };
}
