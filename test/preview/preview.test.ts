// The changes that a preview lists. The workspace stays unchanged.
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { snapshotOf } from "../fixtures/trees.ts";

const world = useFileTools({ with: ["preview"] });
const { kit, path, work } = world;

function populate(): void {
  mkdirSync(path("src/deep"), { recursive: true });
  mkdirSync(path("empty"));
  writeFileSync(path("a.txt"), "a\n");
  writeFileSync(path("src/b.txt"), "b\n");
  writeFileSync(path("src/deep/c.txt"), "c\n");
  symlinkSync("a.txt", path("link"));
  linkSync(path("src/b.txt"), path("hard"));
  execFileSync("git", ["init", "-q", work()]);
}

describeSandboxed("a preview", () => {
  test("lists what a command creates, changes and deletes", async () => {
    populate();
    const before = snapshotOf(work());
    const result = await kit().preview(
      "echo out; echo err >&2; echo x >>a.txt; mkdir -p new/dir; echo y >new/dir/f; rm -r src; rm link; chmod 700 empty; exit 3",
    );
    expect(result).toMatchObject({
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
      created: ["new", "new/dir", "new/dir/f"],
      changed: ["a.txt", "empty"],
      deleted: ["link", "src"],
      notCaptured: [],
    });
    expect(snapshotOf(work())).toEqual(before);
  });

  test.each([
    "rm -rf -- * .git .[!.]*",
    "find . -delete",
    "mv src moved; mv a.txt src2; mv moved/deep .",
    "chmod -R 000 .; chmod 755 .",
    "for f in $(find . -type f); do : >$f; done",
    "ln -sfn / src; ln -f a.txt hard; ln -s ../../.. up; touch -d 2001-01-01 a.txt src",
    "git config user.x y; git add -A; git -c user.name=n -c user.email=e commit -qm x; rm -rf .git/hooks",
    "mkfifo f; truncate -s 100M sparse; printf x >$'odd\\n\\xff name'; mkdir -- -rf; echo >-n",
    "cp -r src copy; rm -rf src; mkdir src; echo fresh >src/b.txt",
    "python3 -c 'import os; os.mknod(\"s\", 0o140644)' || true",
  ])("leaves the workspace bit-identical: %s", async (command) => {
    populate();
    const before = snapshotOf(work());
    const { previewId } = await kit().preview(command);
    expect(snapshotOf(work())).toEqual(before);
    kit().previews.discard(previewId);
    expect(snapshotOf(work())).toEqual(before);
  });

  test("lists the deleted and created entries of a replaced directory", async () => {
    populate();
    const result = await kit().preview("rm -rf src; mkdir src; echo n >src/n; echo b2 >src/b.txt");
    expect(result).toMatchObject({ created: ["src/n"], changed: ["src/b.txt"], deleted: ["src/deep"] });
  });

  test("lists a directory inside a replaced directory as replaced, too", async () => {
    populate();
    const { created, changed, deleted, previewId } = await kit().preview("rm -rf src; mkdir -p src/deep/new");
    expect({ created, deleted }).toEqual({
      created: ["src/deep/new"],
      deleted: ["src/b.txt", "src/deep/c.txt"],
    });
    expect(changed).toEqual([]);
    await kit().previews.commit(previewId);
    expect(existsSync(path("src/deep/c.txt"))).toBe(false);
  });

  test("does not list a file as changed if it was only opened for writing or got another hard link", async () => {
    populate();
    expect(await kit().preview(": >>a.txt; ln a.txt second")).toMatchObject({
      created: ["second"],
      changed: [],
    });
  });

  test("starts from the state of its session and does not change it", async () => {
    populate();
    await kit().call("Bash", { command: "cd src; export V=1; f() { echo f$V$PWD; }" });
    const previewed = await kit().call("Bash", { command: "f; cd /; V=2; echo x >new", preview: true });
    expect(previewed.output).toContain(`f1${path("src")}\n`);
    expect(previewed.metadata).toMatchObject({ exit_code: 1 });
    const again = await kit().call("Bash", { command: "f; echo x >new", preview: true });
    expect(again.metadata).toMatchObject({ exit_code: 0, created: ["src/new"], preview_status: "pending" });
    expect((await kit().call("Bash", { command: "f" })).output).toBe(`f1${path("src")}\n`);
    expect(existsSync(path("src/new"))).toBe(false);
  });

  test("cannot write outside of the workspace, or reach the network", async () => {
    const command = `echo x >${world.outside()}/x; (exec 3<>/dev/tcp/127.0.0.1/9) 2>&1; ls /proc/net/dev`;
    const { stderr } = await kit().preview(command);
    expect(stderr).toContain("Read-only file system");
    expect(existsSync(`${world.outside()}/x`)).toBe(false);
  });

  test("runs a command that needs approval without asking, and refuses a denied one", async () => {
    populate();
    await expect(kit().run("git push --force")).rejects.toMatchObject({ code: "approval_pending" });
    expect(await kit().preview("git push --force || rm -rf src")).toMatchObject({ deleted: ["src"] });
    await expect(kit().preview("rm -rf /")).rejects.toMatchObject({ code: "policy_denied" });
  });

  test("has the sandbox's protections if commands run in a sandbox, but no placeholders on disk", async () => {
    populate();
    const confined = await world.open({ sandbox: "workspace-write" });
    const before = snapshotOf(work());
    const result = await confined.preview("echo x >.git/hooks/pre-commit; echo y >y");
    expect(result).toMatchObject({
      created: ["y"],
      changed: [],
      stderr: expect.stringContaining("Read-only"),
    });
    expect(snapshotOf(work())).toEqual(before);
  });

  test("is refused in a read-only sandbox", async () => {
    const confined = await world.open({ sandbox: "read-only" });
    await expect(confined.preview("echo x >x")).rejects.toMatchObject({ code: "unavailable" });
  });

  test("Bash has the preview parameter only if previews are enabled", async () => {
    const plain = await world.open({ with: [] });
    expect(JSON.stringify(plain.schemas("mcp"))).not.toContain("preview");
    expect(await plain.call("Bash", { command: "true", preview: true })).toMatchObject({
      code: "invalid_input",
    });
    const both = { command: "true", preview: true, run_in_background: true };
    expect(await kit().call("Bash", both)).toMatchObject({ code: "invalid_input" });
  });
});
