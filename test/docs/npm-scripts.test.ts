// What README, docs and AGENTS.md tell to type after `npm`: it exists, and `npm start` does what the first lines of
// README promise. The other scripts are whole runs of their own (tests, checks, benchmarks).
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "../cli/run-nacre.ts";
import { blocks, inlines, inlinesOf, root } from "./pages.ts";

const { dir } = useCli();
const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;
const lines = blocks.flatMap((block) => block.lines.map((line) => line.replace(/\s+#.*$/, "")));
const texts = [...lines, ...[...inlines, ...inlinesOf("AGENTS.md")].map(({ text }) => text)];

test("every npm script that is named exists, and so does the file it runs", () => {
  const named = texts
    .flatMap((text) => /^npm (?:run )?([a-z][a-z:]*)/.exec(text)?.[1] ?? [])
    .filter((name) => name !== "ci");
  expect(new Set(named).size).toBeGreaterThan(10);
  for (const name of named) {
    expect(Object.keys(scripts)).toContain(name);
    const [, file] = /^node (\S+)/.exec(scripts[name] ?? "") ?? [];
    if (file !== undefined) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
  }
  const files = texts.flatMap((text) => /^node (scripts\/\S+)/.exec(text)?.[1] ?? []);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
});

test("npm start with words runs the CLI with them, and alone shows the tour", () => {
  const [shown = ""] = lines.filter((line) => line.startsWith("npm start -- "));
  expect(npm(shown)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^hello\n/m) });
  const tour = npm("npm start");
  expect(tour).toMatchObject({ status: 0, stdout: expect.stringContaining("survivors: none") });
  expect(npm("npm start -- run 'exit 3'").status).toBe(3);
});

function npm(line: string) {
  const env = {
    PATH: process.env["PATH"],
    HOME: dir(),
    NACRE_HOME: join(dir(), "state"),
    npm_config_update_notifier: "false",
  };
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", line], {
    cwd: root,
    encoding: "utf8",
    timeout: 25_000,
    env,
  });
  return { status, stdout, stderr };
}
