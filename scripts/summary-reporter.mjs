// A vitest reporter. Writes to the file NACRE_TEST_SUMMARY: counts, skipped tests with their reasons, tests that passed only
// on retry with their earlier errors, and files that failed outside their tests. Vitest's own reporters omit the reasons.
import { writeFileSync } from "node:fs";

export default class SummaryReporter {
  onTestRunEnd(modules) {
    const summary = { passed: 0, failed: 0, skipped: [], retried: [], broken: [] };
    for (const module of modules) {
      // A file that cannot be loaded has no tests to fail, and a failed hook skips its tests.
      const suites = [module, ...module.children.allSuites()];
      if (suites.some((suite) => suite.errors().length > 0)) summary.broken.push(module.relativeModuleId);
      for (const test of module.children.allTests()) {
        const { state, note, errors = [] } = test.result();
        if (errors.length > 0 && state === "passed") {
          summary.retried.push({ name: test.fullName, errors: errors.map(format) });
        }
        if (state === "passed") summary.passed++;
        else if (state === "failed") summary.failed++;
        else summary.skipped.push({ name: test.fullName, ...(note && { why: note }) });
      }
    }
    writeFileSync(process.env.NACRE_TEST_SUMMARY, JSON.stringify(summary));
  }
}

function format({ message, stacks = [] }) {
  const [at] = stacks;
  return at ? `${message} (${at.file.split("/").at(-1)}:${at.line})` : message;
}
