// npm run conformance: the official conformance suite against a server with its fixtures on our transport code. What is
// expected to fail, and why, is in test/conformance/expected-failures-*.yml. Installs the suite into .cache/conformance.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, root } from "./setup.mjs";

// The suite needs a newer Node than nacre does, which also runs the fixtures as they are.
const NODE = `node-${process.platform}-${process.arch}`;
const PACKAGES = {
  [NODE]: "24.21.0",
  "conformance-2025": "npm:@modelcontextprotocol/conformance@0.1.16",
  "conformance-2026": "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
};
const RUNS = [
  ["conformance-2025", ["--suite", "all"], "2025"],
  ["conformance-2026", ["--suite", "all", "--spec-version", "2026-07-28"], "2026"],
];

ensureInstalled();
const home = join(root, ".cache/conformance");
install();
const node = join(home, "node_modules", NODE, "bin/node");
const fixture = spawn(node, ["--no-warnings", join(root, "test/conformance/fixture-server.ts")], {
  stdio: ["ignore", "pipe", "inherit"],
});
let failed = 0;
try {
  const [line] = await once(fixture.stdout, "data");
  const url = line.toString().trim();
  for (const [name, words, era] of RUNS) {
    console.log(`\n== ${name} against ${url}`);
    const expected = join(root, "test/conformance", `expected-failures-${era}.yml`);
    const program = join(home, "node_modules", name, "dist/index.js");
    const args = [program, "server", "--url", url, "--expected-failures", expected, ...words];
    const { status } = spawnSync(node, args, { cwd: home, stdio: "inherit" });
    if (status !== 0) failed++;
  }
} finally {
  fixture.kill();
}
process.exit(failed === 0 ? 0 : 1);

function install() {
  const stamp = join(home, "installed.json");
  const text = JSON.stringify(PACKAGES);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === text) return;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, dependencies: PACKAGES }));
  console.error("nacre: installing the conformance suite...");
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: home,
    stdio: ["ignore", 2, 2],
  });
  writeFileSync(stamp, text);
}
