// npm test [-- PATTERN...]: installs and builds if needed, runs the tests, and ends with "N passed, N failed". Only a run
// without patterns checks the minimum coverage.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const args = process.argv.slice(2);
const { status } = runVitest({ cwd: root, args: args.length === 0 ? ["--coverage"] : args });
process.exit(status);
