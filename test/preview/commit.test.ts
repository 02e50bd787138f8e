// Committing and undoing previews: all or nothing, equal to running the command, and back again.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { isLong } from "../fixtures/long.ts";
import { plantTree, randomScript } from "../fixtures/random-scripts.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { snapshotOf } from "../fixtures/trees.ts";

const world = useFileTools({ with: ["preview"] });
const { kit, path, work } = world;

const SCRIPTS_COUNT = isLong ? 500 : 12;

function emptyWork(): void {
  execFileSync("chmod", ["-R", "u+rwx", work()]);
  rmSync(work(), { recursive: true, force: true });
  mkdirSync(work());
}

function plantLink(at: string): void {
  rmSync(at);
  symlinkSync("gone/f", at);
}

describeSandboxed("a commit", () => {
  test("equals running the command, and an undo equals the state before, for random scripts", {
    timeout: isLong ? 1_200_000 : 60_000,
  }, async () => {
    for (let seed = 1; seed <= SCRIPTS_COUNT; seed++) {
      emptyWork();
      plantTree(work());
      const direct = join(world.outside(), "direct");
      execFileSync("cp", ["-a", work(), direct]);
      const script = randomScript(seed);
      const before = snapshotOf(work());
      spawnSync("bash", ["-c", script], { cwd: direct, stdio: "ignore" });
      const { previewId } = await kit().preview(script);
      expect(snapshotOf(work()), script).toEqual(before);
      await kit().previews.commit(previewId);
      const options = { withoutTimes: true };
      expect(snapshotOf(work(), options), script).toEqual(snapshotOf(direct, options));
      await kit().previews.undo(previewId);
      expect(snapshotOf(work()), script).toEqual(before);
      execFileSync("chmod", ["-R", "u+rwx", direct]);
      rmSync(direct, { recursive: true, force: true });
    }
  });

  test("keeps times, modes, holes, attributes, hard links and odd names", async () => {
    const command = [
      "truncate -s 50M sparse; touch -d 2001-02-03 old; echo x >old2; touch -r old old2",
      "echo one >h1; ln h1 h2; printf x >$'odd\\n\\xff'; mkfifo pipe; chmod 640 old; ln -s \"$(printf 'a%.0s' {1..500})\" long",
      `python3 -c 'import os; os.setxattr("h1", "user.mark", b"1")' 2>/dev/null; echo done`,
    ].join("\n");
    const { previewId } = await kit().preview(command);
    await kit().previews.commit(previewId);
    expect(lstatSync(path("sparse"))).toMatchObject({ size: 50 * 1024 ** 2 });
    expect(lstatSync(path("sparse")).blocks).toBeLessThan(1000);
    expect(lstatSync(path("old")).mtime.getFullYear()).toBe(2001);
    expect(lstatSync(path("old")).mode & 0o777).toBe(0o640);
    expect(lstatSync(path("h1")).ino).toBe(lstatSync(path("h2")).ino);
    expect(lstatSync(path("pipe")).isFIFO()).toBe(true);
    expect(readlinkSync(path("long"))).toHaveLength(500);
    const attributes = execFileSync("tar", ["--xattrs", "--xattrs-include=*", "-cf", "-", "h1"], {
      cwd: work(),
    });
    expect(attributes.includes("user.overlay")).toBe(false);
  });

  test("of some paths leaves the others pending", async () => {
    mkdirSync(path("old"));
    const { previewId } = await kit().preview(
      "mkdir -p a/b; echo 1 >a/b/f; echo 2 >a/g; rm -r old; echo 3 >h",
    );
    await kit().previews.commit(previewId, ["a/b/f"]);
    expect([existsSync(path("a/b/f")), existsSync(path("a/g")), existsSync(path("old"))]).toEqual([
      true,
      false,
      true,
    ]);
    expect(kit().previews.show(previewId)).toMatchObject({
      status: "pending",
      created: ["a/g", "h"],
      deleted: ["old"],
    });
    kit().previews.discard(previewId, ["h"]);
    expect(await kit().previews.commit(previewId)).toMatchObject({ status: "committed" });
    expect([existsSync(path("a/g")), existsSync(path("h")), existsSync(path("old"))]).toEqual([
      true,
      false,
      false,
    ]);
    await kit().previews.undo(previewId);
    expect([existsSync(path("a/g")), existsSync(path("a/b/f")), existsSync(path("old"))]).toEqual([
      false,
      true,
      true,
    ]);
    await kit().previews.undo(previewId);
    expect(existsSync(path("a"))).toBe(false);
  });

  test.each<[string, string, () => void]>([
    ["a", "has changed since the preview", () => appendFileSync(path("a"), "mine\n")],
    ["a", "is gone", () => rmSync(path("a"))],
    ["new", "exists now", () => writeFileSync(path("new"), "mine\n")],
    ["gone/mine", "is new since the preview", () => writeFileSync(path("gone/mine"), "")],
    ["gone/f", "has changed since the preview", () => chmodSync(path("gone/f"), 0o600)],
    ["a", "has changed since the preview", () => plantLink(path("a"))],
  ])("names the conflict and writes nothing: %s %s", async (name, what, meanwhile) => {
    writeFileSync(path("a"), "a\n");
    mkdirSync(path("gone"));
    writeFileSync(path("gone/f"), "f\n");
    const { previewId } = await kit().preview("echo b >>a; echo n >new; rm -r gone; echo other >other");
    meanwhile();
    const before = snapshotOf(work());
    const commit = await kit().call("Preview", { preview_id: previewId, action: "commit" });
    expect(commit).toMatchObject({ code: "conflict", metadata: { conflicts: [{ path: name, what }] } });
    expect(commit.error).toContain(`${name} ${what}`);
    expect(snapshotOf(work())).toEqual(before);
    expect(kit().previews.show(previewId)).toMatchObject({ status: "pending" });
  });

  test("a change while the command runs is a conflict", async () => {
    writeFileSync(path("a"), "a\n");
    const input = new PassThrough();
    const running = kit().preview("cat a; read -r _; echo b >>a", { input });
    for await (const _ of running) {
      writeFileSync(path("a"), "mine\n");
      input.end("go\n");
      break;
    }
    const { previewId } = await running;
    await expect(kit().previews.commit(previewId)).rejects.toMatchObject({ code: "conflict" });
    expect(readFileSync(path("a"), "utf8")).toBe("mine\n");
  });

  test("planted links lead nowhere", async () => {
    const outside = join(world.outside(), "target");
    mkdirSync(outside);
    writeFileSync(join(outside, "f"), "theirs\n");
    mkdirSync(path("d"));
    writeFileSync(path("d/f"), "mine\n");
    const before = snapshotOf(outside);
    const { previewId } = await kit().preview("echo x >d/f; echo y >d/new; chmod 700 d");
    renameSync(path("d"), path("moved"));
    symlinkSync(outside, path("d"));
    await expect(kit().previews.commit(previewId)).rejects.toMatchObject({ code: "conflict" });
    expect(snapshotOf(outside)).toEqual(before);
    // A link in the preview itself is written as a link, and nothing goes through it.
    const second = await kit().preview(
      `rm d; ln -s ${outside} e; ln -s ${outside}/f e2; rm -rf e/f; echo z >e2`,
    );
    await kit().previews.commit(second.previewId);
    expect(snapshotOf(outside)).toEqual(before);
    expect(readlinkSync(path("e"))).toBe(outside);
  });

  test("of a command that needs approval needs it", async () => {
    mkdirSync(path("src"));
    const asked: string[] = [];
    const { previewId } = await kit().preview("git push --force || rm -rf src");
    await expect(kit().previews.commit(previewId)).rejects.toMatchObject({ code: "approval_pending" });
    expect(existsSync(path("src"))).toBe(true);
    const other = await world.open({
      approve: ({ command }) => {
        asked.push(command);
        return true;
      },
    });
    await other.previews.commit(previewId);
    expect(asked).toEqual(["git push --force || rm -rf src"]);
    expect(existsSync(path("src"))).toBe(false);
  });

  test("a hard link to a file that the command changes is named", async () => {
    writeFileSync(path("a"), "a\n");
    linkSync(path("a"), path("b"));
    const { previewId, notCaptured } = await kit().preview("echo x >>a");
    expect(notCaptured).toEqual([expect.stringMatching(/^a: has 2 hard links/)]);
    await kit().previews.commit(previewId);
    expect([readFileSync(path("a"), "utf8"), readFileSync(path("b"), "utf8")]).toEqual(["a\nx\n", "a\n"]);
    await kit().previews.undo();
    expect(lstatSync(path("a")).ino).toBe(lstatSync(path("b")).ino);
  });
});

describeSandboxed("an undo", () => {
  test.each<[string, string, () => void]>([
    ["a", "has changed since the commit", () => appendFileSync(path("a"), "mine\n")],
    ["new/mine", "is new since the commit", () => writeFileSync(path("new/mine"), "")],
    ["gone", "exists now", () => writeFileSync(path("gone"), "")],
    ["new/f", "is gone", () => rmSync(path("new/f"))],
  ])("names the conflict and restores nothing: %s %s", async (name, what, meanwhile) => {
    writeFileSync(path("a"), "a\n");
    writeFileSync(path("gone"), "g\n");
    const { previewId } = await kit().preview("echo b >>a; mkdir new; echo n >new/f; rm gone");
    await kit().previews.commit(previewId);
    meanwhile();
    const before = snapshotOf(work());
    await expect(kit().previews.undo(previewId)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(`${name} ${what}`),
    });
    expect(snapshotOf(work())).toEqual(before);
  });

  test("without an id takes back the newest commit of the workspace", async () => {
    const first = await kit().preview("echo 1 >one");
    const second = await kit().preview("echo 2 >two");
    await kit().previews.commit(second.previewId);
    await kit().previews.commit(first.previewId);
    expect(await kit().previews.undo()).toEqual(["one"]);
    expect(await kit().previews.undo()).toEqual(["two"]);
    await expect(kit().previews.undo()).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describeSandboxed("bad input", () => {
  test("unknown, committed, discarded and undone previews, and paths that are not in it", async () => {
    const { previewId: id } = await kit().preview("echo 1 >one");
    const call = (
      action: "commit" | "diff" | "discard" | "undo" | "show",
      preview_id = id,
      paths?: string[],
    ) => kit().call("Preview", { preview_id, action, ...(paths ? { paths } : {}) });
    expect(await call("commit", "preview_00000000")).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining(`There are:\n${id} (pending): echo 1 >one`),
    });
    expect(await call("commit", "../../etc")).toMatchObject({ code: "invalid_input" });
    expect(await call("commit", id, ["two"])).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining('no change at "two"'),
    });
    expect(await call("undo")).toMatchObject({ error: expect.stringContaining("it is not committed") });
    expect(await call("diff")).toMatchObject({
      output: expect.stringContaining("+++ b/one\n@@ -0,0 +1 @@\n+1"),
    });
    expect(await call("commit")).toMatchObject({ success: true });
    expect(await call("commit")).toMatchObject({ error: expect.stringContaining("It was committed") });
    expect(await call("show")).toMatchObject({ success: true, metadata: { preview_status: "committed" } });
    expect(await call("undo")).toMatchObject({ success: true });
    expect(await call("undo")).toMatchObject({ error: expect.stringContaining("already undone") });
    const { previewId: other } = await kit().preview("echo 1 >one");
    expect(await call("discard", other)).toMatchObject({ success: true });
    expect(await call("commit", other)).toMatchObject({ error: expect.stringContaining("It was discarded") });
    expect(existsSync(path("one"))).toBe(false);
  });

  test("a preview of another scope is unknown", async () => {
    const { previewId } = await kit().preview("echo 1 >one");
    const other = await world.open({ scope: "other" });
    expect(await other.call("Preview", { preview_id: previewId, action: "commit" })).toMatchObject({
      code: "invalid_input",
    });
  });
});
