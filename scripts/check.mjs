// npm run check [-- --no-tests]: runs every check, even after a failure, and prints one table at the end.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const bin = (name) => join(root, "node_modules/.bin", name);
const shellFiles = ["src", "scripts"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sh"))
    .map((name) => join(folder, name)),
);

const checks = [
  ["format and lint", bin("biome"), ["check", "--error-on-warnings", "."]],
  ["types", bin("tsc"), ["--noEmit"]],
  ["import rules", bin("depcruise"), ["src", "--output-type", "err"]],
  ["unused code", bin("knip"), []],
  ["package shape", bin("publint"), ["--strict"]],
  ["package types", bin("attw"), ["--pack", ".", "--profile", "esm-only"]],
  ["shell programs", "shellcheck", ["-x", ".ci/run", ...shellFiles]],
  ["tests", process.execPath, [join(root, "scripts/test.mjs")]],
];

const wanted = process.argv.includes("--no-tests") ? checks.filter(([title]) => title !== "tests") : checks;
const rows = wanted.map(([title, file, args]) => {
  console.log(`\n== ${title}`);
  const { status, error } = spawnSync(file, args, { cwd: root, stdio: "inherit" });
  if (error?.code === "ENOENT") {
    console.log(`${file} is not installed (Debian: apt-get install ${file})`);
    return [title, "not run"];
  }
  return [title, status === 0 ? "ok" : "FAILED"];
});

console.log("");
for (const [title, outcome] of rows) console.log(`${outcome.padEnd(8)} ${title}`);
// In CI every tool is installed, so a check that did not run is a failure.
const bad = rows.filter(([, outcome]) => outcome === "FAILED" || (outcome === "not run" && process.env.CI));
process.exit(bad.length === 0 ? 0 : 1);
