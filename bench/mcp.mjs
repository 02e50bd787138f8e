// What a client of `nacre mcp` waits for: the first tools/list, beside `node -e 0`; and calls, beside spawning bash
// in the client itself. Interleaved, so that noise hits both alike.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { ms, quantile, sleep, spawnBash, timed } from "./measure.mjs";

const STARTS = Number(process.env.BENCH_STARTS ?? 25);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 150);
const program = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const stateRoot = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const env = { ...process.env, NACRE_HOME: stateRoot };

const plain = [];
const ours = [];
for (let round = 0; round < STARTS; round++) {
  plain.push(await timed(() => once(spawn(process.execPath, ["-e", "0"]), "exit")));
  ours.push(await timeToTools());
}
console.log(
  `time to tools/list: node -e 0 ${ms(quantile(plain, 0.5))}  nacre mcp ${ms(quantile(ours, 0.5))}  ratio ${(quantile(ours, 0.5) / quantile(plain, 0.5)).toFixed(2)}x`,
);

const client = new Client({ name: "bench", version: "0" });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, "mcp"], env }));
await client.listTools();
// Both sides are measured once they have run for a while: an agent's hundredth call, not its first.
for (let round = 0; round < 100; round++) {
  await spawnBash("true");
  await client.callTool({ name: "Bash", arguments: { command: "true" } });
}
for (const [title, gapMs] of [
  ["10 ms between calls", 10],
  ["back to back", 0],
]) {
  console.log(title);
  for (const command of ["true", "echo hi", "ls /"]) await compare(command, gapMs);
}
await client.close();
rmSync(stateRoot, { recursive: true, force: true });

/** As clients do: hello, wait for the answer, then ask for the tools. */
async function timeToTools() {
  const start = performance.now();
  const child = spawn(process.execPath, [program, "mcp"], { env, stdio: ["pipe", "pipe", "inherit"] });
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "bench", version: "0" };
  say({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += chunk;
    const lines = text.split("\n");
    if (lines.length === 2) {
      say({ method: "notifications/initialized" });
      say({ id: 1, method: "tools/list" });
    }
    if (lines.length === 3) break;
  }
  const took = performance.now() - start;
  child.stdin.end();
  if (child.exitCode === null) await once(child, "exit");
  return took;
}

async function compare(command, gapMs) {
  const plain = [];
  const ours = [];
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(gapMs);
    plain.push(await timed(() => spawnBash(command)));
    await sleep(gapMs);
    ours.push(await timed(() => client.callTool({ name: "Bash", arguments: { command } })));
  }
  const ratio = quantile(plain, 0.5) / quantile(ours, 0.5);
  console.log(
    `  ${command.padEnd(8)} spawn ${ms(quantile(plain, 0.5))} (p95 ${ms(quantile(plain, 0.95))})  tools/call ${ms(quantile(ours, 0.5))} (p95 ${ms(quantile(ours, 0.95))})  ${ratio.toFixed(2)}x faster`,
  );
}
