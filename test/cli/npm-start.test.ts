// `npm start --` in a clone: nacre runs in the directory from which npm was called.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "./run-nacre.ts";

const { dir } = useCli();
const clone = join(import.meta.dirname, "../..");
const MAX_MS = 120_000;

function stderrOf(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const { stderr, status } = spawnSync(file, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  return stderr;
}

test(
  "npm --prefix CLONE start configures the project, not the clone",
  () => {
    const project = join(dir(), "project");
    mkdirSync(project);
    const words = ["--prefix", clone, "start", "--silent", "--", "init", "cursor"];
    expect(stderrOf("npm", words, project)).toContain(`in ${project}/.cursor/mcp.json `);
  },
  MAX_MS,
);

test(
  "if another npm script starts start.mjs, nacre runs in the current directory instead of INIT_CWD",
  () => {
    const script = [join(clone, "scripts/start.mjs"), "init", "cursor"];
    const env = { INIT_CWD: "/", npm_lifecycle_event: "test" };
    expect(stderrOf(process.execPath, script, dir(), env)).toContain(`in ${dir()}/.cursor/mcp.json `);
  },
  MAX_MS,
);
