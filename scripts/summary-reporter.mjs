// A reporter for vitest: counts, every skipped test with the reason it gave, every one that passed only when it was
// tried again with what was wrong before, and every file that broke outside of its tests, into the file that
// NACRE_TEST_SUMMARY names. The reporters that come with vitest leave the reasons out.
import { writeFileSync } from "node:fs";

export default class SummaryReporter {
  onTestRunEnd(modules) {
    const summary = { passed: 0, failed: 0, skipped: [], retried: [], broken: [] };
    for (const module of modules) {
      // One that cannot be loaded has no tests that could fail, and those after a broken hook are not run.
      const suites = [module, ...module.children.allSuites()];
      if (suites.some((suite) => suite.errors().length > 0)) summary.broken.push(module.relativeModuleId);
      for (const test of module.children.allTests()) {
        const { state, note, errors = [] } = test.result();
        if (errors.length > 0 && state === "passed") {
          summary.retried.push({ name: test.fullName, errors: errors.map(inWords) });
        }
        if (state === "passed") summary.passed++;
        else if (state === "failed") summary.failed++;
        else summary.skipped.push({ name: test.fullName, ...(note && { why: note }) });
      }
    }
    writeFileSync(process.env.NACRE_TEST_SUMMARY, JSON.stringify(summary));
  }
}

function inWords({ message, stacks = [] }) {
  const [at] = stacks;
  return at ? `${message} (${at.file.split("/").at(-1)}:${at.line})` : message;
}
