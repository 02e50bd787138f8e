// npm run bench [-- --json] [--only NAME]... [--quick]: every benchmark in a process of its own, one after the other. A
// whole run writes bench/REPORT.md and the figures in README.md; with --json the findings go to stdout and everything
// else to stderr. --quick does a little of each, to see that they work: its figures mean nothing and are not kept.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { forgetFailures } from "../bench/shared/peers.mjs";
import { withFigures } from "./bench-figures.mjs";
import { busyness, reportOf, surroundings } from "./bench-report.mjs";
import { ensureBuilt, root } from "./setup.mjs";

/** In the order of the report; others follow. */
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
  console.error(`bench: there is no ${unknown.join(", ")}. There are: ${all.join(", ")}.`);
  process.exit(2);
}

ensureBuilt();
forgetFailures();
const names = wanted.length > 0 ? wanted : all;
const busyBefore = busyness();
const began = performance.now();
const benches = names.map(measure);
const findings = {
  ...surroundings(busyBefore),
  seconds: Math.round((performance.now() - began) / 1000),
  benches,
};
if (values.json) console.log(JSON.stringify(findings, null, 2));
// A part of it would replace figures by none.
if (wanted.length === 0 && !values.quick) {
  writeFileSync(join(root, "bench/REPORT.md"), reportOf(findings));
  const readme = join(root, "README.md");
  writeFileSync(readme, withFigures(readFileSync(readme, "utf8"), findings));
}
const failed = benches.filter((bench) => bench.failed);
for (const { name } of failed) console.error(`bench: ${name} did not come to its end, see above`);
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
    // A bash of the first level whose stdin is a socket, as that of a child of Node is, reads the person's .bashrc.
    env: { ...process.env, SHLVL: "2", BENCH_RESULT: file, BENCH_QUICK: values.quick ? "1" : "" },
  });
  process[values.json ? "stderr" : "stdout"].write(stdout);
  const found = existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : // It only prints: that, then, as it is.
      { tables: [], targets: [], notes: [], peers: [], text: stdout.trim() };
  rmSync(scratch, { recursive: true, force: true });
  return { name, about: aboutOf(path), failed: status !== 0, ...found };
}

/** What a benchmark says of itself: the comment it opens with. */
function aboutOf(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join(" ");
}
