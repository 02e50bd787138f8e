// How soon wait_for_port notices a server. Measures the time between the moment the server starts to listen and the
// return of the call.
// Servers start at random moments, on IPv4 and IPv6, as the command itself and as a child of another bash.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolkit } from "nacre";
import { quantile } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const SERVERS = amount(100, 3);
const LATEST_MS = 300;
const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const dir = join(scratch, "work");
mkdirSync(dir);
// The server writes the time when it starts to listen, from the monotonic clock that all processes share.
writeFileSync(
  join(dir, "server.cjs"),
  `const [port, host, file] = process.argv.slice(2);
require("node:net").createServer().listen(Number(port), host, () => {
  require("node:fs").writeFileSync(file, String(process.hrtime.bigint()));
});`,
);
const kit = await createToolkit({ workingDir: dir, stateRoot: join(scratch, "state") });
const took = [];
try {
  for (let i = 0; i < SERVERS; i++) await measure(i);
} finally {
  await kit.dispose();
  rmSync(scratch, { recursive: true, force: true });
}
table(
  `Time from the start of listening to the result, ${SERVERS} servers`,
  ["median, ms", "p95, ms", "slowest, ms", `within ${LATEST_MS} ms`],
  [[quantile(took, 0.5), quantile(took, 0.95), Math.max(...took), `${inTime()} of ${SERVERS}`]],
);
target(`servers out of ${SERVERS} that were reported within ${LATEST_MS} ms`, inTime(), { atLeast: SERVERS });

function inTime() {
  return took.filter((ms) => ms <= LATEST_MS).length;
}

async function measure(i) {
  const host = i % 2 === 0 ? "127.0.0.1" : "::1";
  const port = await freePort(host);
  const program = `${process.execPath} server.cjs ${port} ${host} bound.${i}`;
  const delay = `sleep 0.${Math.floor(Math.random() * 1_000)}`;
  const command = i % 3 === 0 ? `${delay}; exec ${program}` : `${delay}; bash -c '${program}; true'`;
  const { metadata } = await kit.call("Bash", { command, run_in_background: true });
  const { bash_id } = metadata;
  const result = await kit.call("BashOutput", { bash_id, wait_for_port: port, wait_ms: 30_000 });
  const now = process.hrtime.bigint();
  if (result.metadata.waited_for === "port") {
    const bound = await boundAt(join(dir, `bound.${i}`));
    took.push(Math.max(0, Number(now - bound) / 1e6));
  }
  await kit.call("KillShell", { shell_id: bash_id });
}

/** Polls for the file, because the kernel shows the listener before the server writes the file. */
async function boundAt(file) {
  for (;;) {
    try {
      const text = readFileSync(file, "utf8");
      if (text !== "") return BigInt(text);
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function freePort(host) {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, host, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
