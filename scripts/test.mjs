// npm test [-- PATTERN...]: installs and builds if needed, runs the tests, and ends with "N passed, N failed". In CI
// a run without patterns checks the minimum coverage, too: collecting it takes a fifth of the time.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const args = process.argv.slice(2);
const coverage = process.env.CI && args.length === 0 ? ["--coverage"] : [];
const { status } = runVitest({ cwd: root, args: [...args, ...coverage] });
process.exit(status);
