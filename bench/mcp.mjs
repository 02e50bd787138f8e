// How long an MCP client waits for nacre, for the peers and for a minimal server. The first tools/list is compared with
// `node -e 0`; calls are compared with spawning bash in the client. The order changes each round, so that noise affects
// all equally. Then measures how long nacre takes to exit during fifty calls: a client that disconnects waits a second
// or two before it kills the server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, shuffled, sleep, spawnBash, spread, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { note, table, target } from "./shared/report.mjs";
import { connect, SERVERS, serverEnv } from "./shared/servers.mjs";

const STARTS = amount(20, 1);
const ROUNDS = amount(120, 2);
const EXITS = amount(5, 1);
const WARM_UP = Math.min(50, ROUNDS);
const GAP_MS = 10;
/** N stands for a number that differs in each call. Otherwise nacre would reuse its verdict on an earlier call. */
const NEW = "echo hi N";
const HELLO = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "0" },
  },
};
const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const servers = Object.entries(SERVERS).flatMap(([name, find]) => {
  const server = find();
  return server ? [{ name, ...server, env: serverEnv(scratch, name) }] : [];
});
try {
  await starts();
  await calls();
  await exits();
  note("N is a new number in each call, so nacre has no verdict in memory for this command.");
  note(
    "Each peer runs `echo hi` with its own tool. desktop-commander waits until it is sure that the command has ended.",
  );
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

async function starts() {
  const plain = [];
  const times = new Map(servers.map(({ name }) => [name, []]));
  for (let round = 0; round < STARTS; round++) {
    plain.push(await timed(() => once(spawn(process.execPath, ["-e", "0"]), "exit")));
    for (const { name, args, env } of shuffled(servers)) {
      // desktop-commander is slower by an order of magnitude: a few repetitions are enough.
      if (name === "desktop-commander" && round >= 5) continue;
      times.get(name).push(await timeToTools(args, env));
    }
  }
  table(
    "From start to the answer to tools/list",
    ["server", "relative to `node -e 0`", "ms, median / p95"],
    [
      ...servers.map(({ name, title }) => [
        title,
        `${(median(times.get(name)) / median(plain)).toFixed(2)}x`,
        spread(times.get(name)),
      ]),
      ["node -e 0", "1.00x", spread(plain)],
    ],
  );
  target(
    "time to tools/list, relative to `node -e 0`",
    median(times.get("nacre mcp")) / median(plain),
    { atMost: 2.5 },
    "x",
  );
}

async function calls() {
  const commands = ["true", "echo hi", NEW, "ls /"];
  const open = [];
  for (const server of servers) {
    open.push({
      ...server,
      ...(await connect(server, server.env, scratch)),
      times: Object.fromEntries(commands.map((c) => [c, []])),
    });
  }
  const plain = {
    title: "spawn in the client",
    run: async (command) => (await spawnBash(command, scratch)).output,
    times: Object.fromEntries(commands.map((c) => [c, []])),
  };
  // Warm up first: the figures are for an agent's later calls, not for its first.
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const one of shuffled([plain, ...open])) {
      if (one.name === "desktop-commander" && (round < -2 || round >= 10)) continue;
      for (const command of commands) {
        await sleep(GAP_MS);
        const took = await timedCall(one, textOf(command, round));
        if (round >= 0) one.times[command].push(took);
      }
    }
  }
  await Promise.all(open.map(({ close }) => close()));
  const ratio = (one, command) => median(plain.times[command]) / median(one.times[command]);
  table(
    "tools/call, speed relative to spawning bash in the client",
    ["server", ...commands],
    open.map((one) => [one.title, ...commands.map((command) => `${ratio(one, command).toFixed(2)}x`)]),
  );
  table(
    "tools/call, milliseconds, median / p95",
    ["server", ...commands],
    [...open, plain].map((one) => [one.title, ...commands.map((command) => spread(one.times[command]))]),
  );
  const [nacre] = open;
  for (const [command, atLeast] of [
    ["true", 1.6],
    ["echo hi", 1.6],
    ["ls /", 1.1],
  ]) {
    target(
      `tools/call of \`${command}\`, speed relative to spawn in the client`,
      ratio(nacre, command),
      { atLeast },
      "x",
    );
  }
}

function textOf(command, round) {
  return command === NEW ? `echo hi ${round}` : command;
}

async function timedCall({ title, run }, command) {
  let output = "";
  const took = await timed(async () => {
    output = await run(command);
  });
  // A failed command must not count as fast.
  if (command.startsWith("echo hi") && !/\bhi\b/.test(output))
    throw new Error(`${title} answered ${command} with ${output}`);
  return took;
}

async function exits() {
  const triggers = {
    "end-of-file": (child) => child.stdin.end(),
    SIGTERM: (child) => child.kill("SIGTERM"),
    SIGINT: (child) => child.kill("SIGINT"),
  };
  const times = Object.fromEntries(Object.keys(triggers).map((name) => [name, []]));
  for (let round = 0; round < EXITS; round++) {
    for (const [name, triggerExit] of Object.entries(triggers))
      times[name].push(await timeToExit(servers[0], triggerExit));
  }
  table(
    "From end of file or a signal to the exit, during fifty calls",
    ["trigger", "ms, median / p95"],
    Object.entries(times).map(([name, took]) => [name, spread(took)]),
  );
  const slowest = Math.max(...Object.values(times).map(median));
  target("time to exit during fifty calls", slowest, { atMost: 1000 }, " ms");
}

/** Half of the calls run in the background; the other half wait in the session's queue. */
async function timeToExit({ args, env }, triggerExit) {
  const child = spawn(process.execPath, args, { env, cwd: scratch, stdio: ["pipe", "pipe", "ignore"] });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send(HELLO);
  for (let id = 1; id <= 50; id++) {
    const background = id % 2 === 0 ? { run_in_background: true } : {};
    const command = "sleep 1000 & sleep 1000";
    send({ id, method: "tools/call", params: { name: "Bash", arguments: { command, ...background } } });
  }
  // Wait for the answers to initialize and to the background calls.
  await new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.split("\n").length > 26) resolve();
    });
  });
  const exited = once(child, "exit");
  const start = performance.now();
  triggerExit(child);
  await exited;
  return performance.now() - start;
}

/** Acts like a client: initializes, waits for the answer, then lists the tools. */
async function timeToTools(args, env) {
  const start = performance.now();
  const child = spawn(process.execPath, args, { env, cwd: scratch, stdio: ["pipe", "pipe", "ignore"] });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send(HELLO);
  let text = "";
  let isGreeted = false;
  for await (const chunk of child.stdout) {
    text += chunk;
    // Some servers send notifications before the answer.
    const answered = text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line).id);
    if (answered.includes(0) && !isGreeted) {
      isGreeted = true;
      send({ method: "notifications/initialized" });
      send({ id: 1, method: "tools/list" });
    }
    if (answered.includes(1)) break;
  }
  const took = performance.now() - start;
  child.stdin.end();
  // Some servers do not exit at end of file.
  const killTimer = setTimeout(() => child.kill("SIGKILL"), 2_000);
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  clearTimeout(killTimer);
  return took;
}
