import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders whose files take longest, most of the time waiting. */
const LONGEST = ["test/faults/", "test/sandbox/", "test/mcp/", "test/cli/", "test/docs/"];

/** Starts the long files first: otherwise one of them would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((folder) => moduleId.includes(folder));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    // npm run remote: the tests with the real programs behind the links.
    include: process.env["NACRE_REMOTE_LINKS"] ? ["test/remote/*.live.ts"] : ["test/**/*.test.ts"],
    globalSetup: ["test/fixtures/state-root-guard.ts"],
    setupFiles: ["test/fixtures/clean-environment.ts"],
    // Ceilings against hangs: on a machine that does other work, too, the longest test takes a fifth of them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Real processes on a machine that does other work, too. What had to be tried again is marked in the report.
    retry: process.env["CI"] ? 1 : 0,
    pool: "forks",
    // Files that run in one worker share its modules: importing them anew for each file took a fifth of the time.
    isolate: false,
    // Most tests wait for processes rather than compute.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary"],
      // Does not count what runs in other processes: the daemon of a remote machine, the CLI, the page.
      thresholds: { lines: 85 },
    },
  },
});
