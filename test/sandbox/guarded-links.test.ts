// A mount cannot protect a symbolic link that git or a starting program follows. If a sandboxed command
// replaces such a link, its result names the link. The result does not mention unchanged links.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { linksAlong } from "../../src/sandbox/guarded-links.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const { home, workspace, outside } = world;
const git = (...words: string[]) => execFileSync("git", words, { cwd: workspace, stdio: "pipe" });
const setUp = (script: string) => execFileSync("bash", ["-ec", script], { cwd: workspace, stdio: "pipe" });

beforeEach(() => {
  rmSync(workspace, { recursive: true, force: true });
  rmSync(join(outside, "git"), { recursive: true, force: true });
  mkdirSync(workspace);
  git("init", "-q");
});

const HOOKS = "mkdir real evil; ln -s real hk; git config core.hooksPath hk";

const CASES = [
  ["core.hooksPath is a link", HOOKS, "rm hk; ln -s evil hk", "hk", "core.hooksPath"],
  ["core.hooksPath is a link that becomes a directory", HOOKS, "rm hk; mkdir hk", "hk", "core.hooksPath"],
  [
    "core.hooksPath leads through a linked directory",
    "mkdir -p real/hooks evil/hooks; ln -s real dir; git config core.hooksPath dir/hooks",
    "ln -sfn evil dir",
    "dir",
    "core.hooksPath",
  ],
  [
    "core.hooksPath is a link to a link",
    "mkdir real evil; ln -s two one; ln -s real two; git config core.hooksPath one",
    "ln -sfn evil two",
    "two",
    "core.hooksPath",
  ],
  [
    "the directory of a linked core.hooksPath is exchanged",
    "mkdir real evil sub; ln -s ../real sub/hk; git config core.hooksPath sub/hk",
    "mv sub old; mkdir sub; ln -s ../evil sub/hk",
    "sub/hk",
    "core.hooksPath",
  ],
  [
    "include.path is a link",
    "echo >realinc; ln -s realinc inc; git config include.path ../inc",
    "echo >evil; ln -sfn evil inc",
    "inc",
    "include.path",
  ],
  [
    ".git is a link in the workspace",
    "mv .git realgit; ln -s realgit .git",
    "cp -r realgit r2; ln -sfn r2 .git",
    ".git",
    "where git finds its repository",
  ],
  [
    ".git is a link to a directory outside",
    `mv .git '${outside}/git'; ln -s '${outside}/git' .git`,
    `cp -r '${outside}/git' r2; ln -sfn r2 .git`,
    ".git",
    "where git finds its repository",
  ],
  [
    "the .git of a nested repository is a link",
    "git init -q sub; mv sub/.git sub/real; ln -s real sub/.git",
    "cp -r sub/real r2; ln -sfn ../r2 sub/.git",
    "sub/.git",
    "where git finds its repository",
  ],
] as const;

describeSandboxed("in a sandbox", () => {
  test.each(CASES)("a replaced link is named: %s", async (_what, before, command, link, role) => {
    setUp(before);
    const manager = world.manager({ sandbox: "workspace-write" });
    expect((await runIn(manager, "touch other; git status", workspace)).remarks.join()).not.toContain("link");
    const remarks = (await runIn(manager, command, workspace)).remarks.join("\n");
    expect(remarks).toContain(`changed link: ${join(workspace, link)}, `);
    expect(remarks).toContain(role);
  });

  test("if .git is a link into the workspace, hooks and config of its target are read-only", async () => {
    setUp("mv .git .store; ln -s .store .git");
    const command = "echo x >.store/hooks/y; echo x >>.store/config; mv .store s; echo x >.git/hooks/y";
    const shell = await runIn(world.manager({ sandbox: "workspace-write" }), command, workspace);
    expect(shell.getAllOutput().match(/Read-only file system/g)).toHaveLength(3);
    expect(shell.getAllOutput()).toContain("Device or resource busy");
  });

  test("the result names a replaced link to a startup file", async () => {
    const own = mkdtempSync(join(outside, "home-"));
    process.env["HOME"] = own;
    try {
      writeFileSync(join(own, "rc"), "");
      symlinkSync("rc", join(own, ".bashrc"));
      const stateRoot = join(outside, "state");
      const manager = world.manager({ sandbox: "workspace-write", writable: [own], stateRoot });
      const shell = await runIn(manager, "echo >~/evil; ln -sfn evil ~/.bashrc", workspace);
      expect(shell.remarks.join()).toContain(
        `changed link: ${own}/.bashrc, which runs or is read when a program starts`,
      );
    } finally {
      process.env["HOME"] = home;
    }
  });

  test("a session names a replaced link only once, with its old and new target", async () => {
    setUp(HOOKS);
    const options = { workingDir: workspace, stateRoot: join(home, "state"), policy: "off" } as const;
    await using tools = await createToolkit({ ...options, sandbox: "workspace-write" });
    const { notes } = await tools.call("Bash", { command: "rm hk; ln -s evil hk" });
    expect(notes.join()).toContain(
      `${workspace}/hk, which git reads (core.hooksPath), pointed to "real" and now points to "evil"`,
    );
    expect((await tools.call("Bash", { command: "ls; true" })).notes.join()).not.toContain("changed link");
  });
});

test("links in a loop are each listed once", () => {
  symlinkSync("b", join(workspace, "a"));
  symlinkSync("a", join(workspace, "b"));
  expect(linksAlong(join(workspace, "a/x"), "").map(({ path }) => path)).toEqual([
    join(workspace, "a"),
    join(workspace, "b"),
  ]);
});
