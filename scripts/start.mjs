// npm start -- ARGUMENTS: installs and builds if needed, then runs the CLI with these arguments.
import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const { status, signal, error } = spawnSync(
  process.execPath,
  [join(root, "dist/cli/main.js"), ...process.argv.slice(2)],
  { stdio: "inherit" },
);
if (error) throw error;
process.exit(status ?? 128 + constants.signals[signal]);
