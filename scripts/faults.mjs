// npm run faults [-- PATTERN...]: runs the long form of the fault injection tests and of all other tests that have one.
// The last lines are "survived N of M" and the tests that could not run, with the reasons.
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

const OTHERS = [
  "test/entry-points.test.ts",
  "test/mcp/end-to-end.test.ts",
  "test/mcp/endings.test.ts",
  "test/policy/bypass/caps.test.ts",
  "test/preview/attacks.test.ts",
  "test/preview/equality.test.ts",
  "test/preview/killed-host.test.ts",
  "test/terminal/plain-output.test.ts",
  "test/terminal/waiting.test.ts",
];

ensureBuilt();
const patterns = process.argv.slice(2);
const { status, passed, failed, skipped } = runVitest({
  cwd: root,
  args: [
    ...["--testTimeout=1800000", "--hookTimeout=300000"],
    ...(patterns.length === 0 ? ["test/faults", ...OTHERS] : patterns),
  ],
  env: { NACRE_LONG: "1" },
});
console.log(`\nsurvived ${passed} of ${passed + failed + skipped.length}`);
if (failed > 0) console.log(`failed: ${failed} (see above)`);
for (const { name, why = "no reason given" } of skipped) console.log(`skipped: ${name}: ${why}`);
process.exit(status);
