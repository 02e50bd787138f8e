// npm run fuzz, npm run policy:fuzz: the long forms of tests that npm test runs in short.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
// Tidying up after many cases takes its time, too.
const words = ["--testTimeout=1800000", "--hookTimeout=300000", ...process.argv.slice(2)];
process.exit(runVitest({ cwd: root, words, env: { NACRE_LONG: "1" } }).status);
