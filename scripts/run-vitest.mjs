// Runs vitest and sums up: "N passed, N failed", with skips and their reasons counted apart.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `prefix` is put before the command, e.g. to run it as somebody else. Returns the exit status. */
export function runVitest({ cwd, words, prefix = [], env = {} }) {
  const dir = mkdtempSync(join(tmpdir(), "nacre-report-"));
  const reportFile = join(dir, "report.json");
  const command = [
    ...prefix,
    process.execPath,
    join(cwd, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
    ...words,
  ];
  // Whoever runs the tests must be able to write the report.
  if (prefix.length > 0) spawnSync("chmod", ["777", dir]);
  const { status } = spawnSync(command[0], command.slice(1), {
    cwd,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  const report = readReport(reportFile);
  rmSync(dir, { recursive: true, force: true });

  const skipped = skippedTests(report);
  for (const name of skipped) console.log(`skipped: ${name}`);
  const broken = report.numFailedTests === 0 && status !== 0;
  if (broken) {
    console.log(
      "No single test failed, but the run did: a broken file, an unhandled error or the coverage floor. See above.",
    );
  }
  const failed = report.numFailedTests + (broken ? 1 : 0);
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  console.log(`${report.numPassedTests} passed, ${failed} failed${tail}`);
  return { status: status ?? 1, skipped };
}

function skippedTests(report) {
  return report.testResults
    .flatMap((file) => file.assertionResults)
    .filter((test) => test.status === "pending" || test.status === "skipped" || test.status === "todo")
    .map((test) => test.fullName);
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  }
}
