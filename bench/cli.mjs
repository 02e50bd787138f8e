// What a person waits for: `nacre run true` and `nacre ps`, beside `node -e 0`. Interleaved, so that noise hits all alike.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ms, quantile, timed } from "./measure.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 40);
const program = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const stateRoot = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const env = { ...process.env, NACRE_HOME: stateRoot };
const forms = [
  ["node -e 0", ["-e", "0"]],
  ["nacre run true", [program, "run", "true"]],
  ["nacre ps", [program, "ps"]],
];

const times = new Map(forms.map(([title]) => [title, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [title, words] of forms) {
    const run = () => once(spawn(process.execPath, words, { env, stdio: "ignore" }), "exit");
    times.get(title).push(await timed(run));
  }
}
rmSync(stateRoot, { recursive: true, force: true });

const plain = quantile(times.get("node -e 0"), 0.5);
for (const [title, values] of times) {
  const half = quantile(values, 0.5);
  console.log(`${title.padEnd(16)} ${ms(half)}  ${(half / plain).toFixed(2)}x node -e 0`);
}
console.log("promised: nacre run true at most 3x");
