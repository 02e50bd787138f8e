// Runs vitest and prints a summary: "N passed, N failed", and each skipped test with its reason.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * `prefix` goes before the command, for example to run it as another user. Returns the exit status and the test counts.
 * In CI, every test can run: a skip that test/allowed-skips.json does not list for `user` then counts as a failure
 * in the status and the printed summary. In the returned counts it is still a skip.
 */
export function runVitest({ cwd, args, prefix = [], env = {}, user = "root" }) {
  const dir = mkdtempSync(join(tmpdir(), "nacre-report-"));
  const file = join(dir, "summary.json");
  const command = [
    ...prefix,
    process.execPath,
    join(cwd, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    `--reporter=${join(cwd, "scripts/summary-reporter.mjs")}`,
    ...args,
  ];
  // `prefix` may run vitest as another user, which must be able to write the summary.
  if (prefix.length > 0) spawnSync("chmod", ["777", dir]);
  const { status } = spawnSync(command[0], command.slice(1), {
    cwd,
    stdio: "inherit",
    env: { ...process.env, ...env, NACRE_TEST_SUMMARY: file },
  });
  const { passed, failed, broken, ...rest } = readSummary(file);
  const skipped = withReasons(cwd, user, rest.skipped);
  rmSync(dir, { recursive: true, force: true });

  for (const { name, errors } of rest.retried) {
    console.log(`passed only on retry: ${name}\n  before: ${errors.join("\n  before: ")}`);
  }
  for (const { name, why } of skipped) console.log(`skipped: ${name}${why ? ` (${why})` : ""}`);
  const unexpected = process.env.CI ? skipped.filter(({ allowed }) => !allowed) : [];
  for (const { name } of unexpected) console.log(`Must not be skipped here: ${name}`);
  for (const name of broken) console.log(`Failed outside its tests, which may not have run: ${name}`);
  const isUnexplained = failed + broken.length === 0 && status !== 0;
  if (isUnexplained) {
    console.log(
      "No test failed, but the run did: an unhandled error, or coverage below the minimum. See above.",
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

/** Adds the reason from test/allowed-skips.json to skipped tests that gave none. */
function withReasons(cwd, user, skipped) {
  const allowed = JSON.parse(readFileSync(join(cwd, "test/allowed-skips.json"), "utf8")).filter((skip) =>
    skip.users.includes(user),
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
