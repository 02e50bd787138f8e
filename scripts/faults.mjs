// npm run faults [-- PATTERN...]: the fault injection tests, in their long forms. The last lines are "survived N of M" and
// the tests that could not run, with the reasons.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const patterns = process.argv.slice(2);
const { status, passed, failed, skipped } = runVitest({
  cwd: root,
  args: [
    ...["--testTimeout=1800000", "--hookTimeout=300000"],
    ...(patterns.length === 0 ? ["test/faults"] : patterns),
  ],
  env: { NACRE_LONG: "1" },
});
console.log(`\nsurvived ${passed} of ${passed + failed + skipped.length}`);
if (failed > 0) console.log(`not survived: ${failed}, see above`);
for (const { name, why = "it names no reason" } of skipped) console.log(`not tried: ${name}: ${why}`);
process.exit(status);
