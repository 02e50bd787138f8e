// npm run faults [-- PATTERN...]: everything that is broken on purpose, in the long forms of the tests that have one.
// Ends with "survived N of M", and says of what could not be tried here why.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const words = process.argv.slice(2);
const { status, passed, failed, skipped } = runVitest({
  cwd: root,
  words: ["--testTimeout=1800000", "--hookTimeout=300000", ...(words.length === 0 ? ["test/faults"] : words)],
  env: { NACRE_LONG: "1" },
});
console.log(`\nsurvived ${passed} of ${passed + failed + skipped.length}`);
if (failed > 0) console.log(`not survived: ${failed}, see above`);
for (const { name, why = "it names no reason" } of skipped) console.log(`not tried: ${name}: ${why}`);
process.exit(status);
