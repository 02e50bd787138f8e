// npm run test:unprivileged, as root: the engine's tests once more as a user without any capability, as most
// hosts are. What only root can do must then be reported, not claimed. With words, as `npm test` takes them, only those:
//   NACRE_LONG=1 npm run test:unprivileged -- test/faults/cancel.test.ts -t "random moments"
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

const NOBODY = "65534";
const PREFIX = [
  "setpriv",
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  "--clear-groups",
  "--inh-caps=-all",
  "--bounding-set=-all",
  "--no-new-privs",
];
// Escapes from the sandbox, as most people use it.
const SANDBOX = [
  "test/sandbox/state-roots.test.ts",
  "test/sandbox/trusted-files.test.ts",
  "test/sandbox/attacks.test.ts",
];
const WORDS = process.argv.slice(2);
const PARTS = ["test/engine", "test/shell", "test/session", "test/faults", ...SANDBOX];

if (process.getuid() !== 0) {
  console.log("Run this as root: it gives up its privileges. As another user, npm test does the same.");
  process.exit(1);
}
ensureBuilt();
const home = mkdtempSync(join(tmpdir(), "nacre-nobody-"));
chmodSync(home, 0o777);
try {
  const cwd = readableTree(home);
  const env = { HOME: home, XDG_STATE_HOME: join(home, "state"), XDG_CACHE_HOME: join(home, "cache") };
  process.exitCode = runVitest({
    cwd,
    words: ["--configLoader", "runner", "--cache=false", ...(WORDS.length > 0 ? WORDS : PARTS)],
    prefix: PREFIX,
    env,
    who: "unprivileged",
  }).status;
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** This tree if that user can read it, else a copy. */
function readableTree(home) {
  const [program, ...words] = [...PREFIX, "test", "-r", join(root, "package.json")];
  if (spawnSync(program, words).status === 0) return root;
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
