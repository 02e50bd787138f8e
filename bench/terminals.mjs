// Measures terminals: how much longer one takes to start than a plain background shell, how soon `waiting` reports that
// a program waits for input, how often it reports a wait by mistake, and the cost of 50 MB of output. There is no peer:
// other programs use node-pty, which needs an install script, and the benchmarks run no install scripts.
import { median, quantile, spread, timed, withManager } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const STARTS = amount(50, 2);
const PROMPTS = amount(30, 1);
const QUIET_RUNS = amount(100, 2);
const OUTPUT_MB = amount(50, 1);

/** Each program prints the time just before it waits, so the clock starts in the program. */
const PROMPT_KINDS = {
  line: "date +%s%N; read -r x",
  secret: "date +%s%N; read -rs x",
  key: "date +%s%N; read -rn1 x",
};
const QUIET = [
  "echo up; printf '> '; sleep 1000",
  "echo up; printf 'Password: '; while :; do :; done",
  "echo up; for i in 1 2 3; do echo 'int main(){return 0;}' | cc -x c -O2 -o /dev/null -; done; sleep 1000",
  `node -e 'require("http").createServer().listen(0, () => process.stdout.write("up\\n> "))'`,
];

await withManager(async (manager) => {
  const create = (command, more) => manager.createShell({ command, workingDir: "/tmp", ...more });
  const firstOutput = async (terminal) => {
    const shell = await create("echo up; sleep 1000", { terminal });
    await shell.waitFor("up");
    return shell;
  };
  const times = { plain: [], terminal: [] };
  for (let round = 0; round < STARTS; round++) {
    for (const [kind, list] of Object.entries(times)) {
      let shell;
      list.push(await timed(async () => (shell = await firstOutput(kind === "terminal"))));
      await shell.kill({ graceMs: 0 });
    }
  }
  const more = median(times.terminal) - median(times.plain);
  target("extra time to start a terminal, compared with a plain shell", more, { atMost: 30 }, " ms");

  const rows = [];
  const all = [];
  for (const [kind, command] of Object.entries(PROMPT_KINDS)) {
    const found = [];
    for (let round = 0; round < PROMPTS; round++) {
      const shell = await create(command, { terminal: true });
      while ((await shell.screen()).waiting !== kind);
      const began = Number(/\d{15,}/.exec(shell.getAllOutput())?.[0]) / 1e6;
      found.push(performance.timeOrigin + performance.now() - began);
      await shell.kill({ graceMs: 0 });
    }
    all.push(...found);
    rows.push([kind, spread(found)]);
  }
  target(
    "time from a wait for input until `waiting` reports it, p95",
    quantile(all, 0.95),
    { atMost: 500 },
    " ms",
  );

  let wrong = 0;
  for (let round = 0; round < QUIET_RUNS; round++) {
    const shell = await create(QUIET[round % QUIET.length], { terminal: true });
    await shell.waitFor("up");
    for (let poll = 0; poll < 5; poll++) if ((await shell.screen()).waiting !== "no") wrong++;
    await shell.kill({ graceMs: 0 });
  }
  target(`wrong reports in ${QUIET_RUNS} runs of programs that do not wait`, wrong, { atMost: 0 }, "");

  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
  const line = "x".repeat(1023);
  const lines = OUTPUT_MB * 1024;
  const tookMs = await timed(async () => {
    const shell = await create(`yes ${line} | head -n ${lines}; echo all`, { terminal: true });
    await shell.wait();
    if (!(await shell.screen()).screen.includes("all")) throw new Error("The screen lacks the last line.");
  });
  clearInterval(watch);
  const grownMib = (peak - before) / 1024 ** 2;
  target(`host memory growth for ${OUTPUT_MB} MB through a terminal`, grownMib, { atMost: 100 }, " MiB");

  table(
    "Terminals, milliseconds as median / p95",
    ["measurement", "milliseconds"],
    [
      ["start to first output, plain shell", spread(times.plain)],
      ["start to first output, terminal", spread(times.terminal)],
      ...rows.map(([kind, text]) => [`from a wait for a ${kind} until \`waiting\` reports it`, text]),
      [`${OUTPUT_MB} MB through a terminal, with the screen`, tookMs.toFixed(0)],
    ],
  );
});
