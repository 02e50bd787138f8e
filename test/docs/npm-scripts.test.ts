// What README, docs and AGENTS.md tell to type after `npm` or `node`: every command of it is run, the whole runs
// (tests, checks, benchmarks, clients) by .ci/run, the others here, with less to do where that is long.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { useCli } from "../cli/run-nacre.ts";
import { blocks, inlines, inlinesOf, root } from "./pages.ts";

const { dir } = useCli();
const lines = blocks.flatMap((block) => block.lines.map((line) => line.replace(/\s+#.*$/, "")));
const texts = [...lines, ...[...inlines, ...inlinesOf("AGENTS.md")].map(({ text }) => text)];
const shown = [...new Set(texts.filter((text) => /^(npm|node scripts\/)/.test(text)))];
const CEILING_MS = 120_000;

/** Said of npm in general, or of another project. */
const OTHERS: Readonly<Record<string, string>> = {
  "npm install -g nacre": "what a reader does outside this repository",
  "npm ci": "what every command here runs in a fresh clone",
  "npm start --": "the beginning of every line with npm start",
};

/** The script that is run, in the form that is run here, and what it must print. */
const HERE: Readonly<Record<string, readonly [line: string, printed: RegExp]>> = {
  "npm run faults": [
    "npm run faults -- test/faults/working-directory.test.ts",
    /^survived ([1-9]\d*) of \1$/m,
  ],
  "npm run fuzz": ["npm run fuzz -- --cases 20", /^[1-9]\d* passed, 0 failed$/m],
  "npm run policy:fuzz": ["npm run policy:fuzz -- --cases 20", /^[1-9]\d* passed, 0 failed$/m],
  "npm test -- test/engine": ["npm test -- test/engine/cursor", /^[1-9]\d* passed, 0 failed$/m],
};

/** Those that write into the tree, in a copy where the file has been spoilt: they make it what it was. */
const WRITERS: Readonly<Record<string, readonly [file: string, spoil: (text: string) => string]>> = {
  "npm run fix": ["src/index.ts", (text) => text.replace("\n", "\n\n\n\n")],
  "npm run policy:schema": ["policy-rules.schema.json", () => "{}\n"],
  "node scripts/complete-lock.mjs": ["package-lock.json", withoutOnePlatform],
};

const BY_NAME = ["npm start", "npm run policy:score"];

test("every command that is shown is run: by .ci/run, or here", () => {
  const ci = readFileSync(join(root, ".ci/run"), "utf8").replaceAll(" --silent", "");
  const byCi = [...ci.matchAll(/^\s*(?:if .*; then )?(npm (?:run )?[a-z:]+)/gm)].map(
    ([, script = ""]) => script,
  );
  expect(byCi).toContain("npm test");
  const here = [...Object.keys(HERE), ...Object.keys(WRITERS)];
  const notRun = shown.filter(
    (text) =>
      !(text in OTHERS) &&
      !here.includes(text) &&
      ![...BY_NAME, ...byCi].some((script) => text === script || text.startsWith(`${script} -- `)),
  );
  expect(notRun).toEqual([]);
  // Nothing is listed that the pages no longer show.
  for (const text of [...here, ...Object.keys(OTHERS)]) expect(shown).toContain(text);
});

test("npm start with words runs the CLI with them, and alone shows the tour", () => {
  const [first = ""] = lines.filter((line) => line.startsWith("npm start -- "));
  expect(typed(first)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^hello\n/m) });
  const tour = typed("npm start");
  expect(tour).toMatchObject({ status: 0, stdout: expect.stringContaining("survivors: none") });
  expect(typed("npm start -- run 'exit 3'").status).toBe(3);
});

test.each(Object.values(HERE))(
  "%s",
  (line, printed) => {
    const { status, stdout, stderr } = typed(line);
    expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: expect.stringMatching(printed) });
  },
  CEILING_MS,
);

test("npm run policy:score judges labelled commands, and fails where they come out otherwise", () => {
  const file = join(dir(), "labelled.jsonl");
  const labelled = (harmless: string) =>
    [
      ["rm -rf /", "deny"],
      ["git push --force", "ask"],
      [harmless, "allow"],
    ].map(([command, expected]) => JSON.stringify({ command, expect: expected, class: "own" }));
  writeFileSync(file, labelled("ls").join("\n"));
  expect(typed(`npm run policy:score -- '${file}'`)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("ok   benign: denied: 0.0 %"),
  });
  writeFileSync(file, labelled("rm -rf /").join("\n"));
  expect(typed(`npm run policy:score -- '${file}'`)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining("FAIL benign: denied: 100.0 %"),
  });
});

describe("what writes into the tree", () => {
  test.each(Object.entries(WRITERS))(
    "%s",
    (line, [file, spoil]) => {
      const tree = copyOfTree();
      const whole = readFileSync(join(tree, file), "utf8");
      writeFileSync(join(tree, file), spoil(whole));
      expect(readFileSync(join(tree, file), "utf8")).not.toBe(whole);
      expect(typed(line, tree)).toMatchObject({ status: 0 });
      expect(readFileSync(join(tree, file), "utf8")).toBe(whole);
    },
    CEILING_MS,
  );
});

/** The files of the repository as they are now, set up as this one is. */
function copyOfTree(): string {
  const tree = join(dir(), "tree");
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of listed.stdout.split("\0").filter((name) => name !== "")) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(root, file), join(tree, file), { verbatimSymlinks: true });
  }
  cpSync(join(root, "dist"), join(tree, "dist"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  return tree;
}

function withoutOnePlatform(text: string): string {
  const lock = JSON.parse(text);
  const name = Object.keys(lock.packages).find((path) => path.endsWith("-darwin-arm64"));
  delete lock.packages[name ?? "none"];
  return `${JSON.stringify(lock, null, 2)}\n`;
}

function typed(line: string, cwd = root) {
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", line], {
    cwd,
    encoding: "utf8",
    timeout: CEILING_MS,
    env: {
      PATH: process.env["PATH"],
      HOME: dir(),
      NACRE_HOME: join(dir(), "state"),
      npm_config_update_notifier: "false",
    },
  });
  return { status, stdout, stderr };
}
