// Runs the engine's tests as a user without any capability, as most hosts run nacre. Tests that need root must then
// be skipped with that reason instead of passing.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runVitest } from "./run-vitest.mjs";
import { root } from "./setup.mjs";

const UNPRIVILEGED_ID = "65534";
const PREFIX = [
  "setpriv",
  `--reuid=${UNPRIVILEGED_ID}`,
  `--regid=${UNPRIVILEGED_ID}`,
  "--clear-groups",
  "--inh-caps=-all",
  "--bounding-set=-all",
  "--no-new-privs",
];
const SANDBOX_ESCAPES = [
  "test/sandbox/state-roots.test.ts",
  "test/sandbox/trusted-files.test.ts",
  "test/sandbox/attacks.test.ts",
];
const TERMINALS = ["test/terminal", "test/sandbox/terminals.test.ts"];
const PARTS = ["test/engine", "test/shell", "test/session", "test/faults", ...SANDBOX_ESCAPES, ...TERMINALS];
/** Long tests of growth, volume, forks and bash's state. npm test runs them, and privileges make no difference to them. */
const SAME_AS_ROOT = [
  "test/engine/fuzz.test.ts",
  "test/engine/spool-fuzz.test.ts",
  "test/faults/forking-chain.test.ts",
  "test/faults/keeper-soak.test.ts",
  "test/faults/large-output.test.ts",
  "test/faults/mixed-soak.test.ts",
  "test/faults/page-memory.test.ts",
  "test/faults/session-soak.test.ts",
  "test/faults/session-tampering.test.ts",
];

/**
 * Accepts the arguments of npm test, for example with NACRE_LONG=1: test/faults/cancel.test.ts -t "random moments".
 * Returns the exit status.
 */
export function testUnprivileged(args) {
  if (process.getuid() !== 0) {
    console.log(
      "Run this as root: it drops its privileges itself. If you are not root, npm test runs the same tests.",
    );
    return 1;
  }
  const home = mkdtempSync(join(tmpdir(), "nacre-unprivileged-"));
  chmodSync(home, 0o777);
  try {
    return runVitest({
      cwd: readableTree(home),
      args: [
        ...["--configLoader", "runner", "--cache=false"],
        ...(args.length > 0 ? args : [...PARTS, ...SAME_AS_ROOT.map((file) => `--exclude=${file}`)]),
      ],
      prefix: PREFIX,
      env: { HOME: home, XDG_STATE_HOME: join(home, "state"), XDG_CACHE_HOME: join(home, "cache") },
      user: "unprivileged",
    }).status;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** This tree if the unprivileged user can read it, otherwise a copy. */
function readableTree(home) {
  const [program, ...args] = [...PREFIX, "test", "-r", join(root, "package.json")];
  if (spawnSync(program, args).status === 0) return root;
  const copy = join(home, "tree");
  for (const part of [
    "src",
    "scripts",
    "test",
    "dist",
    "node_modules",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts",
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true, verbatimSymlinks: true });
  }
  return copy;
}
