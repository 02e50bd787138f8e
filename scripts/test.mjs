// npm test [-- PATTERN...]: installs and builds if needed, runs the tests, and ends with "N passed, N failed". Only in
// CI does a run without patterns also check the minimum coverage, because collecting it takes a fifth of the run's
// time.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const args = process.argv.slice(2);
const coverage = process.env.CI && args.length === 0 ? ["--coverage"] : [];
const { status } = runVitest({ cwd: root, args: [...args, ...coverage] });
process.exit(status);
