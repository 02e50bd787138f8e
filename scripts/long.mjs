// npm run fuzz, npm run policy:fuzz: the long forms of tests that npm test runs in short.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const words = ["--testTimeout=1800000", ...process.argv.slice(2)];
process.exit(runVitest({ cwd: root, words, env: { NACRE_LONG: "1" } }).status);
