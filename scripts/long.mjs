// npm run fuzz, npm run policy:fuzz [-- --cases N]: the long forms of tests that npm test runs in short; with a number,
// that many cases of each.
import { parseArgs } from "node:util";
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

const { values, positionals } = parseArgs({ options: { cases: { type: "string" } }, allowPositionals: true });
if (values.cases !== undefined && !/^[1-9]\d*$/.test(values.cases)) {
  console.error("fuzz: --cases takes a whole number of 1 or more.");
  process.exit(2);
}
ensureBuilt();
// Tidying up after many cases takes its time, too.
const words = ["--testTimeout=1800000", "--hookTimeout=300000", ...positionals];
const cases = values.cases === undefined ? {} : { NACRE_CASES: values.cases };
process.exit(runVitest({ cwd: root, words, env: { NACRE_LONG: "1", ...cases } }).status);
