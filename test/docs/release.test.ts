// A release is consistent, and its workflow gets no more rights than it needs.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./pages.ts";

const read = (name: string) => readFileSync(join(root, name), "utf8");
const { version, repository } = JSON.parse(read("package.json"));
const workflows = readdirSync(join(root, ".github/workflows")).map((name) => `.github/workflows/${name}`);

function check(...args: string[]): string {
  return spawnSync(process.execPath, [join(root, "scripts/release.mjs"), ...args], { encoding: "utf8" })
    .stderr;
}

test("the version, the lockfile and the change log agree", () => {
  const missing = repository ? /^$/ : /^release: package\.json has no repository: .*\n$/;
  expect(check(`v${version}`)).toMatch(missing);
});

test("a tag that differs from the version is reported with the correct tag", () => {
  expect(check("v9.9.9")).toContain(
    `the tag is v9.9.9, and package.json has the version ${version}: tag v${version}.`,
  );
});

test("workflows pin every action to a commit", () => {
  const actions = workflows.flatMap((file) =>
    [...read(file).matchAll(/uses: (.*)/g)].map(([, action]) => action),
  );
  expect(actions.length).toBeGreaterThan(4);
  for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("the publish workflow starts without rights, and each job adds what it uses", () => {
  const publish = read(".github/workflows/publish.yml");
  expect(publish).toMatch(/^permissions: \{\}$/m);
  const granted = [...publish.matchAll(/^ {6}([a-z-]+: (?:read|write))\b/gm)].map(([, right]) => right);
  expect(granted).toEqual(["contents: read", "contents: read", "id-token: write", "contents: write"]);
  for (const step of [".ci/run", "npm publish --provenance --access public", "npm sbom "])
    expect(publish).toContain(step);
});
