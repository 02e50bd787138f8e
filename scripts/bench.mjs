// npm run bench [-- --json] [--only NAME]... [--quick]: runs each benchmark in its own process, one after the other. A
// complete run writes bench/REPORT.md and the figures in README.md. With --json the results go to stdout and everything
// else to stderr. --quick runs a short form of each to check that it works; its figures are meaningless and not stored.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { forgetFailures } from "../bench/shared/peers.mjs";
import { withFigures } from "./bench-figures.mjs";
import { loadPerCore, machineInfo, reportOf } from "./bench-report.mjs";
import { ensureBuilt, root } from "./setup.mjs";

/** The order in the report. Benchmarks that are not listed follow. */
const ORDER = [
  "latency",
  "fresh-command",
  "session",
  "event-loop-block",
  "cli",
  "mcp",
  "large-output",
  "many-shells",
];

const { values, positionals } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const all = readdirSync(join(root, "bench"))
  .filter((file) => file.endsWith(".mjs") && file !== "measure.mjs")
  .map((file) => file.slice(0, -4))
  .sort((a, b) => (ORDER.indexOf(a) + 1 || 99) - (ORDER.indexOf(b) + 1 || 99));
const wanted = [...values.only, ...positionals].flatMap((names) => names.split(","));
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`bench: unknown benchmark ${unknown.join(", ")}. Known: ${all.join(", ")}.`);
  process.exit(2);
}

ensureBuilt();
forgetFailures();
const names = wanted.length > 0 ? wanted : all;
const loadBefore = loadPerCore();
const began = performance.now();
const benches = names.map(measure);
const findings = {
  ...machineInfo(loadBefore),
  seconds: Math.round((performance.now() - began) / 1000),
  benches,
};
if (values.json) console.log(JSON.stringify(findings, null, 2));
// A partial run would delete the figures of the benchmarks that did not run.
if (wanted.length === 0 && !values.quick) {
  writeFileSync(join(root, "bench/REPORT.md"), reportOf(findings));
  const readme = join(root, "README.md");
  writeFileSync(readme, withFigures(readFileSync(readme, "utf8"), findings));
}
const failed = benches.filter((bench) => bench.failed);
for (const { name } of failed) console.error(`bench: ${name} failed, see above`);
if (values.quick && failed.length === 0) console.error(`bench: ${benches.length} of ${benches.length} work`);
process.exitCode = failed.length > 0 ? 1 : 0;

function measure(name) {
  process.stderr.write(`\n== ${name}\n`);
  const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-result-"));
  const file = join(scratch, "result.json");
  const path = join(root, "bench", `${name}.mjs`);
  const { status, stdout } = spawnSync(process.execPath, [path], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 ** 2,
    // Node gives children a socket as stdin. With a socket and SHLVL unset, bash would read the user's .bashrc.
    env: { ...process.env, SHLVL: "2", BENCH_RESULT: file, BENCH_QUICK: values.quick ? "1" : "" },
  });
  process[values.json ? "stderr" : "stdout"].write(stdout);
  const found = existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : // A benchmark without a result file: report what it printed.
      { tables: [], targets: [], notes: [], peers: [], text: stdout.trim() };
  rmSync(scratch, { recursive: true, force: true });
  return { name, about: aboutOf(path), failed: status !== 0, ...found };
}

/** The header comment of a benchmark. */
function aboutOf(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join(" ");
}
