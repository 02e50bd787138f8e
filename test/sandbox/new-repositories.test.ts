// Every kind of result names the repositories and gitlinks that its command created.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { RepositoryFinder } from "../../src/sandbox/find-repositories.ts";
import { gitlinksIn } from "../../src/sandbox/git-index.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { useCli } from "../cli/run-nacre.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { DIALECTS } from "../mcp/dialects.ts";
import { useMcp } from "../mcp/mcp-clients.ts";

const world = useSandboxWorld();
const { home, workspace, outside } = world;
const { nacre } = useCli();
const mcp = useMcp();
const GIT = "git -c user.name=a -c user.email=a@b";
const git = (cwd: string, ...words: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd, stdio: "pipe" });

const kit = async (dialect: "shells" | "modes" = "shells") =>
  await createToolkit({
    workingDir: workspace,
    stateRoot: join(home, "state"),
    sandbox: "workspace-write",
    policy: "off",
    dialect,
  });

beforeEach(() => {
  rmSync(workspace, { recursive: true, force: true });
  mkdirSync(workspace);
});

describeSandboxed("the result of a sandboxed command", () => {
  test("names a new repository in a workspace that had none, and only the first result names it", async () => {
    await using tools = await kit();
    const made = await tools.call("Bash", { command: "git init -q && echo done" });
    expect(made.success).toBe(true);
    expect(made.notes.join()).toContain(`new repository: ${workspace}/.git, made while the command ran.`);
    expect(made.notes.join()).toContain(`Read ${workspace}/.git/config and ${workspace}/.git/hooks before`);
    expect((await tools.call("Bash", { command: "git status -s; ls" })).notes.join()).not.toContain(
      "repository",
    );
  });

  test.each([
    ["a repository in a subdirectory", "git init -q a/b/c", "a/b/c/.git"],
    ["a clone", "git init -q --bare /tmp/x && git clone -q /tmp/x copy 2>/dev/null", "copy/.git"],
    ["a bare repository", "git init -q --bare store", "store"],
    ["a .git that names a directory elsewhere", "mkdir s; echo 'gitdir: ../evil' >s/.git", "s/.git"],
    [
      "a linked worktree",
      `git init -q r; cd r; ${GIT} commit -q --allow-empty -m x; git worktree add -q ../tree`,
      "tree/.git",
    ],
    ["a copied .git directory", "git init -q /tmp/y; mkdir z; cp -r /tmp/y/.git z/", "z/.git"],
  ])("names %s", async (_what, command, path) => {
    const shell = await runIn(world.manager({ sandbox: "workspace-write" }), command, workspace);
    expect(shell.remarks.join()).toContain(`new repository: `);
    expect(shell.remarks.join()).toContain(join(workspace, path));
  });

  test("names an embedded repository that became a gitlink", async () => {
    git(workspace, "init", "-q");
    mkdirSync(join(workspace, "lib"));
    await using tools = await kit();
    const command = `cd lib && git init -q && ${GIT} commit -q --allow-empty -m x && cd .. && git add lib 2>/dev/null`;
    const { notes } = await tools.call("Bash", { command });
    expect(notes.join()).toContain(`new repository: ${workspace}/lib/.git`);
    expect(notes.join()).toContain(`new gitlink in the index: ${workspace}/lib.`);
    expect(notes.join()).toContain("--ignore-submodules=all");
    expect((await tools.call("Bash", { command: "git status -s" })).notes.join()).not.toContain("gitlink");
  });

  test("names a gitlink that update-index created without a repository", async () => {
    git(workspace, "init", "-q");
    const id = "0123456789012345678901234567890123456789";
    const shell = await runIn(
      world.manager({ sandbox: "workspace-write" }),
      `git update-index --add --cacheinfo 160000,${id},node_modules/deep/er/x`,
      workspace,
    );
    expect(shell.remarks.join()).toContain(`new gitlink in the index: ${workspace}/node_modules/deep/er/x.`);
  });

  test("does not mention existing repositories or those in ignored directories", async () => {
    git(workspace, "init", "-q");
    git(workspace, "init", "-q", "old");
    writeFileSync(join(workspace, "a"), "");
    const command = `git add a; ${GIT} commit -qm x; mkdir -p node_modules/p sub; git init -q node_modules/p; git init -q /tmp/z`;
    const shell = await runIn(world.manager({ sandbox: "workspace-write" }), command, workspace);
    expect(shell.exitCode).toBe(0);
    expect(shell.remarks).toEqual([]);
  });

  test("has the note in both dialects, in the foreground and in the background", async () => {
    await using modes = await kit("modes");
    expect((await modes.call("bash", { command: "git init -q m1" })).notes.join()).toContain(
      `${workspace}/m1/.git`,
    );
    await using shells = await kit();
    const { metadata } = await shells.call("Bash", { command: "git init -q s1", run_in_background: true });
    const read = { bash_id: metadata["bash_id"] ?? "", wait_for: "exit" };
    const output = await shells.call("BashOutput", read);
    expect(output.notes.join()).toContain(`${workspace}/s1/.git`);
  });

  test("has the note in a session of the library", async () => {
    await using tools = await kit();
    const { notes } = await tools.session("own").run("git init -q l1");
    expect(notes.join()).toContain(`${workspace}/l1/.git`);
  });

  test("has the note on the command line: as text, in a session and as JSON", async () => {
    const words = ["run", "--policy", "off", "--sandbox", "workspace-write"];
    expect((await nacre(...words, "git init -q c1")).stderr).toContain("/c1/.git");
    const { stdout } = await nacre(...words, "--json", "git init -q c2");
    expect(JSON.parse(stdout).notes.join()).toContain("/c2/.git");
    expect((await nacre(...words, "--session", "one", "git init -q c3")).stderr).toContain("/c3/.git");
  });

  test.each(DIALECTS)("has the note over MCP in dialect $dialect", async ({ dialect, run }) => {
    const words = ["--dialect", dialect, "--policy", "off", "--sandbox", "workspace-write"];
    const { client, dir } = await mcp.overStdio(words);
    expect(JSON.stringify(await run(client, "git init -q p1"))).toContain(`${dir}/p1/.git`);
  });
});

test.each(["2", "3", "4"])("gitlinks are read from an index of version %s", (version) => {
  git(workspace, "init", "-q");
  const id = "0123456789012345678901234567890123456789";
  const names = ["a/link", "a/link-two", "b/ö", "c".repeat(200)];
  for (const name of ["a/file", "a/later", "z"]) {
    mkdirSync(join(workspace, "a"), { recursive: true });
    writeFileSync(join(workspace, name), "");
    git(workspace, "add", name);
  }
  for (const name of names) git(workspace, "update-index", "--add", "--cacheinfo", `160000,${id},${name}`);
  git(workspace, "update-index", "--index-version", version);
  if (version === "3") git(workspace, "update-index", "--skip-worktree", "a/file");
  expect(gitlinksIn(join(workspace, ".git/index")).sort()).toEqual([...names].sort());
});

test("gitlinks are read from an index with SHA-256", () => {
  git(workspace, "init", "-q", "--object-format=sha256");
  git(workspace, "update-index", "--add", "--cacheinfo", `160000,${"01".repeat(32)},lib`);
  expect(gitlinksIn(join(workspace, ".git/index"))).toEqual(["lib"]);
});

test("a search for repositories is bounded, and finds changes since the previous search", () => {
  const root = join(outside, "many");
  for (let at = 0; at < 300; at++)
    mkdirSync(join(root, `d${String(at).padStart(3, "0")}`), { recursive: true });
  const finder = new RepositoryFinder();
  expect(finder.find([root]).repositories).toEqual([]);
  mkdirSync(join(root, "d100/.git"));
  mkdirSync(join(root, "d299/.git"));
  const found = finder.find([root]).repositories.map(({ git: path }) => path);
  expect(found).toEqual([join(root, "d100/.git")]);
  rmSync(join(root, "d100/.git"), { recursive: true });
  expect(finder.find([root]).repositories).toEqual([]);
});
