// npm test [-- PATTERN...]: sets up what is missing, runs the tests, and ends with "N passed, N failed".
// The coverage floor applies to a whole run only.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const words = process.argv.slice(2);
const reportFile = join(root, ".cache/test-report.json");
mkdirSync(join(root, ".cache"), { recursive: true });
rmSync(reportFile, { force: true });

const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
    ...(words.length === 0 ? ["--coverage"] : words),
  ],
  { cwd: root, stdio: "inherit" },
);

const report = readReport();
const skipped = report.numPendingTests + report.numTodoTests;
const failed = report.numFailedTests + (report.numFailedTests === 0 && status !== 0 ? 1 : 0);
if (report.numFailedTests === 0 && status !== 0) {
  console.log(
    "No single test failed, but the run did: see above (a broken file, an unhandled error or the coverage floor).",
  );
}
console.log(`${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(status ?? 1);

function readReport() {
  try {
    return JSON.parse(readFileSync(reportFile, "utf8"));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
  }
}
