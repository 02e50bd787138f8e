// Prints one GiB, and measures the throughput to disk and the cost for the host process. Then sends 100 MB through the
// tools of nacre and of the peers. The tools alternate, and each runs in its own process.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { createToolkit } from "nacre";
import { median, mib, sleep, timed, withManager } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { absent, note, table, target } from "./shared/report.mjs";
import { RUNNERS, runnerTitle } from "./shared/runners.mjs";
import { connect, SERVERS, serverEnv, textOf } from "./shared/servers.mjs";

const BYTES = amount(1024 ** 3, 8 * 1024 ** 2);
const TOOL_BYTES = amount(100, 2) * 1024 ** 2;
const TOOL_MAX_MS = 60_000;
const TOOL_ROUNDS = amount(3, 1);
const print = (bytes) => `head -c ${bytes} /dev/zero | tr '\\0' x | fold -w 100`;
const IN_PROCESS = ["nacre toolkit", "spawn", "execa", "pi bash tool"];
const OVER_MCP = ["nacre mcp", "mcp-server-commands", "desktop-commander"];

if (process.argv[2] === "tool") await tool(process.argv[3]);
else {
  await spool();
  await tools();
}

async function spool() {
  await withManager(async (manager) => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const cpu = process.cpuUsage();
    let shell;
    const tookMs = await timed(async () => {
      shell = await manager.createShell({
        command: `head -c ${BYTES} /dev/zero | tr '\\0' x`,
        workingDir: "/tmp",
      });
      await shell.wait();
    });
    const { user, system } = process.cpuUsage(cpu);
    delay.disable();
    let read = 0;
    const readMs = await timed(async () => {
      for await (const { text } of shell.output()) read += text.length;
    });
    await sleep(20);
    clearInterval(watch);
    if (read !== BYTES) throw new Error(`read ${read} of ${BYTES} bytes`);
    const rate = (ms) => BYTES / 1024 ** 2 / (ms / 1000);
    const grown = (peak - before) / 1024 ** 2;
    table(
      `${mib(BYTES)} of output of one command`,
      ["measurement", "figure"],
      [
        ["written to the spool", `${rate(tookMs).toFixed(0)} MiB/s`],
        ["read back", `${rate(readMs).toFixed(0)} MiB/s`],
        ["host memory growth, peak", `+${grown.toFixed(0)} MiB`],
        ["CPU time of the host while the command prints", `${((user + system) / 1000).toFixed(0)} ms`],
        ["event loop delay, p99 (5 ms means no delay)", `${(delay.percentile(99) / 1e6).toFixed(1)} ms`],
        ["event loop delay, worst", `${(delay.max / 1e6).toFixed(1)} ms`],
      ],
    );
    target("throughput to the spool", rate(tookMs), { atLeast: 300 }, " MiB/s");
    target("host memory growth, peak", grown, { atMost: 32 }, " MiB");
  });
}

async function tools() {
  const candidates = [
    ...IN_PROCESS.map((name) => () => inProcess(name)),
    ...OVER_MCP.map((name) => () => overMcp(name)),
  ].map((run) => ({ run, found: [] }));
  for (let round = 0; round < TOOL_ROUNDS; round++) {
    for (const { run, found } of candidates) {
      // Skip a peer that is not available or has timed out once.
      if (found.length < round || found.at(-1)?.isLate) continue;
      const one = await run();
      if (one) found.push(one);
    }
  }
  table(
    `A tool call that prints ${mib(TOOL_BYTES)} of lines, from call to result`,
    ["tool", "seconds, median and worst", "peak memory of the process", "characters in the result"],
    candidates.filter(({ found }) => found.length > 0).map(({ found }) => rowOf(found)),
  );
  note(
    `A call that takes longer than ${TOOL_MAX_MS / 1000} s times out and is not repeated. spawn and execa return everything to their caller.`,
  );
}

function rowOf(found) {
  const seconds = found.map((one) => one.seconds);
  const { title, result } = found[0];
  return [
    title,
    found.some(({ isLate }) => isLate)
      ? `over ${TOOL_MAX_MS / 1000}`
      : `${median(seconds).toFixed(2)}, ${Math.max(...seconds).toFixed(2)}`,
    `${Math.max(...found.map(({ peak }) => peak)).toFixed(0)} MiB`,
    result,
  ];
}

/** Returns { title, seconds, peak, result } of one call; `isLate` is true if the call timed out. */
async function inProcess(name) {
  const child = fork(fileURLToPath(import.meta.url), ["tool", name], {
    env: { ...process.env, BENCH_RESULT: "" },
  });
  const [message] = await Promise.race([once(child, "message"), tooLate().then(() => [undefined])]);
  child.kill("SIGKILL");
  const title = RUNNERS[name] ? runnerTitle(name) : name;
  if (message === undefined)
    return { title, seconds: TOOL_MAX_MS / 1000, peak: 0, result: "timed out", isLate: true };
  if (message.missing) {
    absent(title, "it cannot be loaded on this machine");
    return undefined;
  }
  return { title, seconds: message.took / 1000, peak: message.peak, result: message.error ?? message.chars };
}

async function tool(name) {
  const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const runner = name === "nacre toolkit" ? await toolkit(scratch) : await RUNNERS[name](scratch, scratch);
  if (!runner) return process.send({ missing: true });
  let chars = 0;
  let error;
  await runner.run("true");
  const took = await timed(async () => {
    try {
      chars = (await runner.run(print(TOOL_BYTES))).length;
    } catch (thrown) {
      error = `fails: ${thrown.shortMessage ?? thrown.message}`.slice(0, 60);
    }
  });
  const peak = process.resourceUsage().maxRSS / 1024;
  await runner.close();
  rmSync(scratch, { recursive: true, force: true });
  process.send({ took, chars, error, peak });
}

/** A timeout that does not keep the process alive. */
function tooLate() {
  return new Promise((resolve) => setTimeout(resolve, TOOL_MAX_MS).unref());
}

async function toolkit(stateRoot) {
  const kit = await createToolkit({ workingDir: "/tmp", stateRoot });
  return {
    run: async (command) => (await kit.call("Bash", { command })).output,
    close: () => kit[Symbol.asyncDispose](),
  };
}

async function overMcp(name) {
  const server = SERVERS[name]();
  if (!server) return undefined;
  const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const { client, run, close, peakMib } = await connect(server, serverEnv(scratch, name), scratch);
  let result;
  // Measure the second call, as for the other tools.
  await run("true");
  const took = await timed(async () => {
    const call = client.callTool(server.call(print(TOOL_BYTES)), { timeout: 120_000 }).then(
      (answer) => {
        const { length } = textOf(answer);
        result = answer.isError ? `fails after ${length}` : length;
      },
      (error) => {
        result = `fails: ${error.message}`.slice(0, 60);
      },
    );
    await Promise.race([call, tooLate()]);
  });
  const peak = peakMib();
  await close();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  return {
    title: server.title,
    seconds: took / 1000,
    peak,
    result: result ?? "timed out",
    isLate: result === undefined,
  };
}
