// npm run long -- conformance: runs the official MCP conformance suite against our transport code, in a server with the
// suite's fixtures.
// test/conformance/expected-failures-*.yml lists the expected failures with reasons. Installs the suite into
// .cache/conformance.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { installAside, NODE, NODE_24, nodeIn } from "./install-aside.mjs";
import { ensureInstalled, root } from "./setup.mjs";

// The suite needs a newer Node than nacre. That Node also runs the TypeScript fixtures directly.
const PACKAGES = {
  [NODE]: NODE_24,
  "conformance-2025": "npm:@modelcontextprotocol/conformance@0.1.16",
  "conformance-2026": "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
};
const RUNS = [
  ["conformance-2025", ["--suite", "all"], "2025"],
  ["conformance-2026", ["--suite", "all", "--spec-version", "2026-07-28"], "2026"],
];

ensureInstalled();
const home = installAside("conformance", PACKAGES);
const node = nodeIn(home);
const fixture = spawn(node, ["--no-warnings", join(root, "test/conformance/fixture-server.ts")], {
  stdio: ["ignore", "pipe", "inherit"],
});
let failed = 0;
try {
  const [line] = await once(fixture.stdout, "data");
  const url = line.toString().trim();
  for (const [name, options, era] of RUNS) {
    console.log(`\n== ${name} against ${url}`);
    const expected = join(root, "test/conformance", `expected-failures-${era}.yml`);
    const program = join(home, "node_modules", name, "dist/index.js");
    const args = [program, "server", "--url", url, "--expected-failures", expected, ...options];
    const { status } = spawnSync(node, args, { cwd: home, stdio: "inherit" });
    if (status !== 0) failed++;
  }
} finally {
  fixture.kill();
}
process.exit(failed === 0 ? 0 : 1);
