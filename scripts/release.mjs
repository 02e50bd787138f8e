// node scripts/release.mjs vX.Y.Z: fails unless the tag, package.json, package-lock.json and CHANGELOG.md agree, and
// package.json names a repository, which npm compares with the source in the provenance statement. The publish workflow
// runs this script.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

const read = (name) => readFileSync(join(root, name), "utf8");
const [tag = ""] = process.argv.slice(2);
const { version, repository } = JSON.parse(read("package.json"));
const lock = JSON.parse(read("package-lock.json"));
const problems = [
  tag !== `v${version}` &&
    `the tag is ${tag || "missing"}, and package.json has the version ${version}: tag v${version}`,
  (lock.version !== version || lock.packages[""].version !== version) &&
    `package-lock.json does not have the version ${version}: run npm install --package-lock-only, then node scripts/complete-lock.mjs`,
  !new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, "m").test(
    read("CHANGELOG.md"),
  ) &&
    `CHANGELOG.md has no section "## ${version} (YYYY-MM-DD)": name the version and the day of its release`,
  repository === undefined &&
    "package.json has no repository: set it to this repository, otherwise npm refuses the provenance",
].filter((problem) => problem !== false);
for (const problem of problems) console.error(`release: ${problem}.`);
process.exit(problems.length === 0 ? 0 : 1);
