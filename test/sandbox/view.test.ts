// The paths that a sandbox shows, protects and hides, tested with real repositories and links.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";

const world = useSandboxWorld();
const { home, workspace, outside } = world;

beforeEach(() => {
  rmSync(workspace, { recursive: true, force: true });
  mkdirSync(workspace);
});

const git = (...words: string[]) => execFileSync("git", words, { cwd: workspace, encoding: "utf8" });

describeSandboxed("in a sandbox", () => {
  test("extra paths are writable, and their siblings are not", async () => {
    mkdirSync(join(outside, "cache"), { recursive: true });
    const manager = world.manager({ sandbox: "workspace-write", writable: [join(outside, "cache")] });
    const shell = await runIn(manager, `echo x >'${outside}/cache/y' && echo x >'${outside}/z'`, workspace);
    expect(shell.getAllOutput()).toContain("Read-only file system");
    expect(readFileSync(join(outside, "cache/y"), "utf8")).toBe("x\n");
  });

  test("a missing writable path is refused, and the message names it", async () => {
    const manager = world.manager({ sandbox: "workspace-write", writable: ["nowhere"] });
    await expect(runIn(manager, "true", workspace)).rejects.toThrow(
      `The writable path ${workspace}/nowhere does not exist.`,
    );
  });

  test("hidden paths cannot be read, and a hidden path that is missing cannot be created", async () => {
    writeFileSync(join(workspace, "secret"), "PRIVATE");
    const manager = world.manager({ sandbox: "workspace-write", hide: ["secret", ".env", "deep/er/file"] });
    const shell = await runIn(
      manager,
      "cat secret; echo x >.env; mkdir -p deep/er; mv .env b; ls -A",
      workspace,
    );
    expect(shell.getAllOutput()).not.toContain("PRIVATE");
    expect(shell.getAllOutput()).toMatch(/secret: Permission denied/);
    // No placeholder remains.
    await eventually(() => expect(readdirSync(workspace)).toEqual(["secret"]));
  });

  test("a placeholder remains until neither of two shells needs it", async () => {
    const manager = world.manager({ sandbox: "workspace-write", hide: [".env"] });
    const long = await manager.createShell({
      command: "echo ready; until [[ -e go ]]; do read -t 0.05 <> <(:); done; echo x >.env || echo held",
      workingDir: workspace,
    });
    await long.waitFor({ pattern: /ready/, timeoutMs: 10_000 });
    await runIn(manager, "true", workspace);
    expect(existsSync(join(workspace, ".env"))).toBe(true);
    await runIn(manager, "touch go", workspace);
    await long.wait(10_000);
    expect(long.getAllOutput()).toContain("held");
    await eventually(() => expect(existsSync(join(workspace, ".env"))).toBe(false));
  });

  test("consecutive and concurrent shells do not remove each other's placeholders", async () => {
    git("init", "-q");
    const manager = world.manager({ sandbox: "workspace-write", hide: [".env", "deep/er"] });
    const run = async () => (await runIn(manager, "echo ran; echo x >.env", workspace)).getAllOutput();
    const outputs: string[] = [];
    for (let round = 0; round < 6; round++) outputs.push(...(await Promise.all([run(), run(), run()])));
    expect(outputs.filter((output) => !/^ran\n\[stderr\]\n.*Permission denied\n$/.test(output))).toEqual([]);
    await eventually(() => expect(readdirSync(workspace)).toEqual([".git"]));
  });

  test("a hidden link hides its target", async () => {
    writeFileSync(join(outside, "target"), "PRIVATE");
    symlinkSync(join(outside, "target"), join(workspace, "link"));
    const manager = world.manager({ sandbox: "read-only", hide: ["link"] });
    const shell = await runIn(manager, `cat link '${outside}/target'`, workspace);
    expect(shell.getAllOutput()).not.toContain("PRIVATE");
  });

  test("a hidden file cannot be read by renaming its directory", async () => {
    mkdirSync(join(workspace, "a/b"), { recursive: true });
    writeFileSync(join(workspace, "a/b/secret"), "PRIVATE");
    const manager = world.manager({ sandbox: "workspace-write", hide: ["a/b/secret"] });
    const first = await runIn(manager, "mv a c; mv a/b a/d; echo x >a/b/other && cat a/b/other", workspace);
    expect(first.getAllOutput()).toMatch(/^x\n/);
    const second = await runIn(manager, "cat c/b/secret a/d/secret a/b/secret", workspace);
    expect(second.getAllOutput()).not.toContain("PRIVATE");
    expect(second.getAllOutput()).toContain("a/b/secret: Permission denied");
  });

  test("a command cannot turn a writable path into a link, and a path that has become a link is refused", async () => {
    mkdirSync(join(workspace, "x/cache"), { recursive: true });
    const manager = world.manager({ sandbox: "workspace-write", writable: ["x/cache"] });
    const command = `mv x y; rm -rf x/cache; mv x/cache z; ln -s '${outside}' x/cache; ls -d x/cache`;
    expect((await runIn(manager, command, workspace)).getAllOutput()).toMatch(/^x\/cache\n/);
    rmSync(join(workspace, "x/cache"), { recursive: true });
    symlinkSync(outside, join(workspace, "x/cache"));
    await expect(runIn(manager, "true", workspace)).rejects.toThrow("since it was first used");
  });

  test("the hooks of a submodule cannot be written", async () => {
    const sub = join(outside, "sub");
    rmSync(sub, { recursive: true, force: true });
    const config = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
    execFileSync("git", ["init", "-q", sub]);
    execFileSync("git", ["-C", sub, ...config, "commit", "-q", "--allow-empty", "-m", "x"]);
    git("init", "-q");
    git(...config, "submodule", "--quiet", "add", sub, "mod");
    const manager = world.manager({ sandbox: "workspace-write" });
    const command = `echo x >.git/modules/mod/hooks/y; mv .git/modules/mod .git/modules/n; cd mod && git ${config.join(" ")} commit -q --allow-empty -m inside && git log --format=%s`;
    const shell = await runIn(manager, command, workspace);
    expect(shell.getAllOutput()).toMatch(/^inside\nx\n\[stderr\]\n.*Read-only file system/);
    expect(existsSync(join(workspace, ".git/modules/n"))).toBe(false);
  });

  test("a repository without hooks stays without hooks, and git works", async () => {
    git("init", "-q", "--template=");
    rmSync(join(workspace, ".git/hooks"), { recursive: true, force: true });
    const manager = world.manager({ sandbox: "workspace-write" });
    const command =
      "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && mkdir -p .git/hooks/x";
    const shell = await runIn(manager, command, workspace);
    expect(shell.getAllOutput()).toContain("Read-only file system");
    expect(git("log", "--format=%s")).toBe("x\n");
    await eventually(() => expect(existsSync(join(workspace, ".git/hooks"))).toBe(false));
    await eventually(() => expect(existsSync(join(workspace, ".git/commondir"))).toBe(false));
  });

  test("the option gitConfig lets commands write the config, but not the hooks", async () => {
    git("init", "-q");
    const manager = world.manager({ sandbox: "workspace-write", gitConfig: true });
    const shell = await runIn(manager, "git config a.b c && git config a.b; echo x >.git/hooks/y", workspace);
    expect(shell.getAllOutput()).toMatch(/^c\n\[stderr\]\n.*Read-only file system/);
  });

  test("if .git/hooks is a link, nothing in .git is writable", async () => {
    git("init", "-q");
    rmSync(join(workspace, ".git/hooks"), { recursive: true });
    mkdirSync(join(workspace, "githooks"));
    symlinkSync("../githooks", join(workspace, ".git/hooks"));
    const manager = world.manager({ sandbox: "workspace-write" });
    const shell = await runIn(manager, "rm .git/hooks; touch .git/x; ls -d .git/*", workspace);
    expect(shell.getAllOutput()).toContain(".git/hooks\n");
    expect(existsSync(join(workspace, ".git/x"))).toBe(false);
  });

  test("commits work in a linked worktree, and the hooks of its main repository are read-only", async () => {
    const main = join(outside, "main");
    rmSync(main, { recursive: true, force: true });
    execFileSync("git", ["init", "-q", main]);
    const config = ["-c", "user.name=a", "-c", "user.email=a@b"];
    execFileSync("git", ["-C", main, ...config, "commit", "-q", "--allow-empty", "-m", "first"]);
    rmSync(workspace, { recursive: true });
    execFileSync("git", ["-C", main, "worktree", "add", "-q", workspace]);
    const manager = world.manager({ sandbox: "workspace-write" });
    const command = `git ${config.join(" ")} commit -q --allow-empty -m second; echo x >'${main}/.git/hooks/y'; echo x >'${main}/z'; echo x >.git`;
    const shell = await runIn(manager, command, workspace);
    expect(git("log", "--format=%s")).toBe("second\nfirst\n");
    expect(shell.getAllOutput().match(/Read-only file system/g)).toHaveLength(3);
  });

  test("a .git file that a command has written makes no other path writable", async () => {
    const manager = world.manager({ sandbox: "workspace-write" });
    mkdirSync(join(home, "repo/worktrees/x"), { recursive: true });
    await runIn(manager, `echo 'gitdir: ${home}/repo/worktrees/x' >.git`, workspace);
    const shell = await runIn(
      manager,
      `echo x >'${home}/repo/y'; echo x >'${home}/repo/worktrees/x/y'`,
      workspace,
    );
    expect(shell.getAllOutput().match(/Read-only file system/g)).toHaveLength(2);
  });

  test("/tmp is private to the command", async () => {
    const manager = world.manager({ sandbox: "read-only" });
    const name = `/tmp/nacre-test-${process.pid}`;
    const shell = await runIn(manager, `ls -A /tmp; echo x >${name} && cat ${name}`, workspace);
    expect(shell.getAllOutput()).toBe("x\n");
    expect(existsSync(name)).toBe(false);
  });

  test("a writable home directory protects its secrets and startup files", async () => {
    writeFileSync(join(home, ".bashrc"), "");
    mkdirSync(join(home, "project"), { recursive: true });
    const manager = world.manager({
      sandbox: "workspace-write",
      writable: [home],
      stateRoot: join(outside, "state"),
    });
    const command =
      "cat ~/.ssh/id_ed25519; mv ~/.ssh ~/.s; echo x >>~/.bashrc; mkdir ~/.kube/y; echo x >~/ordinary; cat ~/ordinary";
    const shell = await runIn(manager, command, workspace);
    expect(shell.getAllOutput()).toMatch(/^x\n/);
    expect(shell.getAllOutput()).not.toContain("PRIVATE");
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("");
    await eventually(() => expect(existsSync(join(home, ".kube"))).toBe(false));
    expect(existsSync(join(home, ".ssh/id_ed25519"))).toBe(true);
  });

  test("a workspace in a hidden directory is refused", async () => {
    const dir = join(home, ".ssh/project");
    mkdirSync(dir);
    const manager = world.manager({ sandbox: "workspace-write", workspace: dir });
    await expect(runIn(manager, "true", dir)).rejects.toThrow(
      `${dir} is in ${home}/.ssh, which the sandbox hides`,
    );
  });

  test("a hidden working directory is refused", async () => {
    const manager = world.manager({ sandbox: "workspace-write" });
    await expect(runIn(manager, "true", "/tmp")).rejects.toThrow(
      "The working directory /tmp is hidden in the sandbox.",
    );
  });

  test("the root as workspace is refused", async () => {
    const manager = world.manager({ sandbox: "workspace-write", workspace: "/" });
    await expect(runIn(manager, "true", "/")).rejects.toThrow("would protect nothing");
  });

  test("with network: full, commands reach the host's network, but no unix sockets", async () => {
    const manager = world.manager({ sandbox: "workspace-write", network: "full" });
    const shell = await runIn(
      manager,
      "readlink /proc/self/ns/net; perl -e 'print syscall(41, 1, 1, 0)'",
      workspace,
    );
    expect(shell.getAllOutput()).toBe(
      `${execFileSync("readlink", ["/proc/self/ns/net"], { encoding: "utf8" })}-1`,
    );
  });

  test("the option debuggers lets commands trace each other", async () => {
    const manager = world.manager({ sandbox: "workspace-write", debuggers: true });
    const shell = await runIn(manager, "perl -e 'print syscall(101, 0, 0, 0, 0)'", workspace);
    expect(shell.getAllOutput()).toBe("0");
  });
});
