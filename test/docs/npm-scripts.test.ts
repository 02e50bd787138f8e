// Every `npm` and `node` command in README.md, docs and AGENTS.md runs. .ci/run runs the complete tests, checks,
// benchmarks and clients. This file runs the other commands, in a short form if they take long.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "../cli/run-nacre.ts";
import { blocks, inlines, inlinesOf, root } from "./pages.ts";

const { dir } = useCli();
const lines = blocks.flatMap((block) => block.lines.map((line) => line.replace(/\s+#.*$/, "")));
const texts = [...lines, ...[...inlines, ...inlinesOf("AGENTS.md")].map(({ text }) => text)];
const shown = [...new Set(texts.filter((text) => /^(npm|node scripts\/)/.test(text)))];
const CEILING_MS = 300_000;

/** Commands that this file does not run, with the reason. */
const OTHERS: Readonly<Record<string, string>> = {
  "npm install -g": "for outside this repository",
  "npm uninstall nacre": "for outside this repository",
  "npm pack": "npm run newcomer runs it",
  "npm install /path/to/nacre-0.2.0.tgz": "npm run newcomer runs it",
  "npm install -g /path/to/nacre-0.2.0.tgz": "for outside this repository",
  "npm ci": "every npm script here runs it in a fresh clone",
  "npm start --": "the beginning of each npm start line",
};

/** Key: the command on the page. Value: the command to run instead, and what it must print. */
const HERE: Readonly<Record<string, readonly [line: string, printed: RegExp]>> = {
  "npm test -- test/engine": ["npm test -- test/engine/cursor", /^[1-9]\d* passed, 0 failed$/m],
};

type Damage = (text: string) => string;

/** Commands that repair files, with the damage. They run in a copy of the tree in which the files are damaged. */
const REPAIRS: Readonly<Record<string, Readonly<Record<string, Damage>>>> = {
  "npm run fix": {
    "src/index.ts": (text) => text.replace("\n", "\n\n\n\n"),
    "policy-rules.schema.json": () => "{}\n",
    "THIRD_PARTY_LICENSES.md": () => "",
  },
  "node scripts/complete-lock.mjs": { "package-lock.json": withoutOnePlatform },
};

/** Commands with a separate test below. */
const BY_NAME = ["npm start", "npm run policy:score"];

test("every command on the pages runs in .ci/run or here", () => {
  const ci = readFileSync(join(root, ".ci/run"), "utf8").replaceAll(" --silent", "");
  const byCi = [
    ...ci.matchAll(/^\s*(?:if .*; then )?(?:step )?(npm (?:run )?[a-z:]+(?: -- [a-z]+(?![a-z/]))?)/gm),
  ].map(([, script = ""]) => script);
  expect(byCi).toContain("npm test");
  const here = [...Object.keys(HERE), ...Object.keys(REPAIRS)];
  const notRun = shown.filter(
    (text) =>
      !(text in OTHERS) &&
      !here.includes(text) &&
      ![...BY_NAME, ...byCi].some((script) => text === script || text.startsWith(`${script} `)),
  );
  expect(notRun).toEqual([]);
  // The pages still show every command in the lists above.
  for (const text of [...here, ...Object.keys(OTHERS)]) expect(shown).toContain(text);
});

test("npm start passes its arguments to the CLI; without arguments, it prints a short help", () => {
  const [first = ""] = lines.filter((line) => line.startsWith("npm start -- "));
  expect(typed(first)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^hello\n/m) });
  const help = typed("npm start");
  expect(help).toMatchObject({ status: 0, stdout: expect.stringContaining("nacre tour") });
  expect(typed("npm start -- run 'exit 3'").status).toBe(3);
});

test.each(Object.values(HERE))(
  "%s succeeds",
  (line, printed) => {
    const { status, stdout, stderr } = typed(line);
    expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: expect.stringMatching(printed) });
  },
  CEILING_MS,
);

test("npm run policy:score judges labeled commands, and fails if a verdict differs from its label", () => {
  const file = join(dir(), "labeled.jsonl");
  const labeled = (harmless: string) =>
    [
      ["rm -rf /", "deny"],
      ["git push --force", "ask"],
      [harmless, "allow"],
    ].map(([command, expected]) => JSON.stringify({ command, expect: expected, class: "own" }));
  writeFileSync(file, labeled("ls").join("\n"));
  expect(typed(`npm run policy:score -- '${file}'`)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("ok   benign: denied: 0.0 %"),
  });
  writeFileSync(file, labeled("rm -rf /").join("\n"));
  expect(typed(`npm run policy:score -- '${file}'`)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining("FAIL benign: denied: 100.0 %"),
  });
});

test.each(Object.entries(REPAIRS))(
  "%s repairs the files it writes",
  (line, damages) => {
    const tree = copyOfTree();
    const read = () => Object.keys(damages).map((file) => readFileSync(join(tree, file), "utf8"));
    const intact = read();
    for (const [file, damage] of Object.entries(damages)) {
      const path = join(tree, file);
      writeFileSync(path, damage(readFileSync(path, "utf8")));
    }
    for (const [index, text] of read().entries()) expect(text).not.toBe(intact[index]);
    expect(typed(line, tree)).toMatchObject({ status: 0 });
    expect(read()).toEqual(intact);
  },
  CEILING_MS,
);

test("package.json has at most 12 scripts", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(12);
});

/** A copy of the working tree, with dependencies installed and dist built. */
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
