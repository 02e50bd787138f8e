// npm start -- ARGUMENTS: installs and builds if needed, then runs the CLI with these arguments, in the directory from
// which npm was called.
import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
// npm changes to the directory of the package. INIT_CWD is where the user called it; every program under npm inherits it.
const { INIT_CWD, npm_lifecycle_event: script } = process.env;
const cwd = (script === "start" && INIT_CWD) || process.cwd();
const { status, signal, error } = spawnSync(
  process.execPath,
  [join(root, "dist/cli/main.js"), ...process.argv.slice(2)],
  { stdio: "inherit", cwd, env: { ...process.env, PWD: cwd } },
);
if (error) throw error;
process.exit(status ?? 128 + constants.signals[signal]);
