// A reporter for vitest: counts, and every skipped test with the reason it gave, into the file that
// NACRE_TEST_SUMMARY names. The reporters that come with vitest leave the reasons out.
import { writeFileSync } from "node:fs";

export default class SummaryReporter {
  onTestRunEnd(modules) {
    const summary = { passed: 0, failed: 0, skipped: [] };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        if (state === "passed") summary.passed++;
        else if (state === "failed") summary.failed++;
        else summary.skipped.push({ name: test.fullName, ...(note && { why: note }) });
      }
    }
    writeFileSync(process.env.NACRE_TEST_SUMMARY, JSON.stringify(summary));
  }
}
