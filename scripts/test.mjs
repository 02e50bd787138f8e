// npm test [-- PATTERN...]: sets up what is missing, runs the tests, and ends with "N passed, N failed".
// The coverage floor applies to a whole run only.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const words = process.argv.slice(2);
const { status } = runVitest({ cwd: root, words: words.length === 0 ? ["--coverage"] : words });
process.exit(status);
