// The run time of `nacre run true` and `nacre ps`, compared with `node -e 0`. The programs alternate, so that noise
// affects all of them equally.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, spread, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const ROUNDS = amount(40, 2);
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
  for (const [title, args] of forms) {
    const run = () => once(spawn(process.execPath, args, { env, stdio: "ignore" }), "exit");
    times.get(title).push(await timed(run));
  }
}
rmSync(stateRoot, { recursive: true, force: true });

const plain = median(times.get("node -e 0"));
table(
  "Run time of the program",
  ["command", "relative to `node -e 0`", "ms, median / p95"],
  [...times].map(([title, values]) => [title, `${(median(values) / plain).toFixed(2)}x`, spread(values)]),
);
target(
  "run time of `nacre run true`, relative to `node -e 0`",
  median(times.get("nacre run true")) / plain,
  { atMost: 2.2 },
  "x",
);
