// BashOutput searches 1 GiB of log lines, and one line of 100 MB. Measures the time, the CPU time of all threads, how
// long the event loop is blocked, the memory, and the length of the result.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createToolkit } from "nacre";
import { mib, sleep, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const BLOCK_BYTES = amount(16, 1) * 1024 ** 2;
const BLOCKS = amount(64, 2);
const LINE_BYTES = amount(100, 2) * 1024 ** 2;
const DELAY_RESOLUTION_MS = 1;

/** `isLiteral`: the pattern has no operators. */
const PATTERNS = [
  { title: "text in one line", search: "the needle in the log", isLiteral: true },
  { title: "text in every 1,000th line", search: "ERROR worker failed", isLiteral: true },
  { title: "alternatives", search: "panic:|segmentation fault|the needle" },
  { title: "classes and repetition", search: "status=5\\d\\d .* took \\d{4,} ms" },
  { title: "ignoring case", search: "(?i)THE NEEDLE IN" },
  { title: "anchors", search: "^the needle .*log$" },
  { title: "every line", search: "\\w+ [0-9]" },
];

const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const dir = join(scratch, "work");
mkdirSync(dir);
writeFileSync(join(dir, "block"), block());
const kit = await createToolkit({ workingDir: dir, stateRoot: join(scratch, "state") });
try {
  const log = await print(
    `for ((i = 0; i < ${BLOCKS}; i++)); do cat block; done; echo 'the needle in the log'`,
  );
  const line = await print(`head -c ${LINE_BYTES} /dev/zero | tr '\\0' x; echo ' the needle in the log'`);
  const rows = [];
  for (const { title, search, isLiteral } of PATTERNS)
    rows.push({ title, isLiteral, ...(await measure(log, search)) });
  const long = { title: `one line of ${mib(LINE_BYTES)}`, ...(await measure(line, "n..dle in the log")) };
  report(rows, long);
  await kit.call("BashOutput", { bash_id: log, tail_lines: 1 });
} finally {
  await kit.dispose();
  rmSync(scratch, { recursive: true, force: true });
}

function block() {
  const lines = [];
  for (let i = 0, bytes = 0; bytes < BLOCK_BYTES; i++) {
    const text =
      i % 1_000 === 999
        ? `2026-01-01T00:00:00Z ERROR worker failed after ${i} requests\n`
        : `2026-01-01T00:00:${String(i % 60).padStart(2, "0")}Z INFO request ${i} GET /api/items/${i % 977} status=200 took ${i % 97} ms\n`;
    lines.push(text);
    bytes += text.length;
  }
  return lines
    .join("")
    .slice(0, BLOCK_BYTES - 1)
    .concat("\n");
}

async function print(command) {
  const { metadata } = await kit.call("Bash", { command, run_in_background: true });
  await kit.call("BashOutput", {
    bash_id: metadata.bash_id,
    wait_for: "exit",
    wait_ms: 120_000,
    tail_lines: 1,
  });
  await kit.shells.get(metadata.bash_id)?.wait(120_000);
  return metadata.bash_id;
}

async function measure(bash_id, search) {
  await sleep(300);
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  await sleep(20);
  delay.enable();
  const cpu = process.cpuUsage();
  let result;
  const wallMs = await timed(async () => {
    result = await kit.call("BashOutput", { bash_id, search });
  });
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  clearInterval(watch);
  if (!result.success) throw new Error(result.error);
  const { matches, searched_lines } = result.metadata;
  return {
    wall: wallMs / 1000,
    cpu: (user + system) / 1e6,
    blocked: Math.max(0, delay.max / 1e6 - DELAY_RESOLUTION_MS),
    grown: (peak - before) / 1024 ** 2,
    chars: result.output.length,
    matches,
    lines: searched_lines,
  };
}

function report(rows, long) {
  const all = [...rows, long];
  table(
    `Search in ${mib(BLOCKS * BLOCK_BYTES)} of lines`,
    [
      "pattern",
      "seconds",
      "CPU seconds",
      "event loop blocked, ms",
      "memory growth, MiB",
      "matches",
      "lines",
      "characters",
    ],
    all.map((row) => [
      row.title,
      row.wall,
      row.cpu,
      row.blocked,
      `+${row.grown.toFixed(0)}`,
      row.matches,
      row.lines,
      row.chars,
    ]),
  );
  const most = (of, key) => Math.max(...of.map((row) => row[key]));
  const literals = rows.filter(({ isLiteral }) => isLiteral);
  const others = rows.filter(({ isLiteral }) => !isLiteral);
  target("time for plain text, slowest", most(literals, "wall"), { atMost: 3 }, " s");
  target("CPU time for other patterns, longest", most(others, "cpu"), { atMost: 20 }, " s");
  target("event loop blocked, longest", most(all, "blocked"), { atMost: 20 }, " ms");
  target("host memory growth, largest", most(all, "grown"), { atMost: 50 }, " MiB");
  target("characters of a result, largest", most(all, "chars"), { atMost: 30_000 });
}
