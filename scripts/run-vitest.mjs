// Runs vitest and sums up: "N passed, N failed", with skips and their reasons counted apart.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * `prefix` is put before the command, e.g. to run it as another user. Returns the exit status and what became of
 * the tests. On a machine that can run everything (CI), a skip that test/allowed-skips.json does not name for `who`
 * is a failure, of the run and in what it prints; in what is returned it stays a skip.
 */
export function runVitest({ cwd, words, prefix = [], env = {}, who = "root" }) {
  const dir = mkdtempSync(join(tmpdir(), "nacre-report-"));
  const file = join(dir, "summary.json");
  const command = [
    ...prefix,
    process.execPath,
    join(cwd, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    `--reporter=${join(cwd, "scripts/summary-reporter.mjs")}`,
    ...words,
  ];
  // The user who runs the tests must be able to write the report.
  if (prefix.length > 0) spawnSync("chmod", ["777", dir]);
  const { status } = spawnSync(command[0], command.slice(1), {
    cwd,
    stdio: "inherit",
    env: { ...process.env, ...env, NACRE_TEST_SUMMARY: file },
  });
  const { passed, failed, broken, ...rest } = readSummary(file);
  const skipped = withReasons(cwd, who, rest.skipped);
  rmSync(dir, { recursive: true, force: true });

  for (const { name, errors } of rest.retried) {
    console.log(`passed only when tried again: ${name}\n  before: ${errors.join("\n  before: ")}`);
  }
  for (const { name, why } of skipped) console.log(`skipped: ${name}${why ? ` (${why})` : ""}`);
  const unexpected = process.env.CI ? skipped.filter(({ allowed }) => !allowed) : [];
  for (const { name } of unexpected) console.log(`This must not be skipped here: ${name}`);
  for (const name of broken) console.log(`Broken outside of its tests, which may not have run: ${name}`);
  const isUnexplained = failed + broken.length === 0 && status !== 0;
  if (isUnexplained) {
    console.log(
      "No single test failed, but the run did: an unhandled error or the coverage floor. See above.",
    );
  }
  const failures = failed + broken.length + (isUnexplained ? 1 : 0);
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  console.log(`${passed} passed, ${failures + unexpected.length} failed${tail}`);
  return {
    status: unexpected.length > 0 ? 1 : (status ?? 1),
    passed,
    failed: failures,
    skipped,
  };
}

/** A test that gave no reason for its skip may have one in the list of those that are allowed. */
function withReasons(cwd, who, skipped) {
  const allowed = JSON.parse(readFileSync(join(cwd, "test/allowed-skips.json"), "utf8")).filter((skip) =>
    skip.who.includes(who),
  );
  return skipped.map(({ name, why }) => {
    const known = allowed.find((skip) => name.includes(skip.name));
    return { name, why: why ?? known?.why, allowed: known !== undefined };
  });
}

function readSummary(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { passed: 0, failed: 0, skipped: [], retried: [], broken: [] };
  }
}
