// Runs vitest and sums up: "N passed, N failed", with skips and their reasons counted apart.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * `prefix` is put before the command, e.g. to run it as somebody else. Returns the exit status. On a machine that
 * can run everything (CI), a skip that test/allowed-skips.json does not name for `who` is a failure.
 */
export function runVitest({ cwd, words, prefix = [], env = {}, who = "root" }) {
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
  const unexpected = process.env.CI ? skipped.filter((name) => !isAllowed(cwd, who, name)) : [];
  for (const name of unexpected) console.log(`This must not be skipped here: ${name}`);
  const broken = report.numFailedTests === 0 && status !== 0;
  if (broken) {
    console.log(
      "No single test failed, but the run did: a broken file, an unhandled error or the coverage floor. See above.",
    );
  }
  const failed = report.numFailedTests + (broken ? 1 : 0) + unexpected.length;
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  console.log(`${report.numPassedTests} passed, ${failed} failed${tail}`);
  return { status: unexpected.length > 0 ? 1 : (status ?? 1) };
}

function isAllowed(cwd, who, name) {
  const allowed = JSON.parse(readFileSync(join(cwd, "test/allowed-skips.json"), "utf8"));
  return allowed.some((skip) => skip.who.includes(who) && name.includes(skip.name));
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
