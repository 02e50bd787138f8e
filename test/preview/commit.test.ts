// A commit applies all changes or none, and has the same result as running the command. An undo restores everything.
import { execFileSync } from "node:child_process";
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
import { markedArchive } from "../fixtures/marked-archive.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { snapshotOf } from "../fixtures/trees.ts";

const world = useFileTools({ with: ["preview"] });
const { kit, path, work } = world;

function plantLink(at: string): void {
  rmSync(at);
  symlinkSync("gone/f", at);
}

describeSandboxed("a commit", () => {
  test("preserves times, modes, holes, attributes, hard links and unusual names", async () => {
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

  test("of some paths leaves the changes of the other paths pending", async () => {
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

  test("reports a change made while the command runs as a conflict", async () => {
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

  test("follows no links", async () => {
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
    // A link in the preview itself is written as a link, and no write follows it.
    const second = await kit().preview(
      `rm d; ln -s ${outside} e; ln -s ${outside}/f e2; rm -rf e/f; echo z >e2`,
    );
    await kit().previews.commit(second.previewId);
    expect(snapshotOf(outside)).toEqual(before);
    expect(readlinkSync(path("e"))).toBe(outside);
  });

  test("needs approval if its command needs approval", async () => {
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

  test("changes all hard links of a file in the workspace, and names files with links elsewhere", async () => {
    writeFileSync(path("a"), "a\n");
    linkSync(path("a"), path("b"));
    writeFileSync(path("c"), "c\n");
    linkSync(path("c"), join(world.outside(), "c"));
    const before = snapshotOf(work());
    const { previewId, changed, stdout, notCaptured } = await kit().preview("echo x >>a; cat b; echo y >>c");
    expect({ changed, stdout }).toEqual({ changed: ["a", "b", "c"], stdout: "a\nx\n" });
    expect(notCaptured).toEqual([expect.stringMatching(/^c: has 2 hard links/)]);
    await kit().previews.commit(previewId);
    expect([readFileSync(path("a"), "utf8"), readFileSync(path("b"), "utf8")]).toEqual(["a\nx\n", "a\nx\n"]);
    expect(lstatSync(path("a")).ino).toBe(lstatSync(path("b")).ino);
    expect(readFileSync(join(world.outside(), "c"), "utf8")).toBe("c\n");
    await kit().previews.undo();
    expect(snapshotOf(work())).toEqual(before);
  });

  test.each([
    ["f", "cp --attributes-only --preserve=xattr marked f", "~ f (2 B, attributes)"],
    ["d", "cp -aT --attributes-only --preserve=xattr,timestamps marked-dir d", "~ d/ (attributes)"],
    [
      "marked-dir",
      "mv marked-dir/x x; rmdir marked-dir; mkdir marked-dir; touch -d @0 marked-dir",
      "attributes",
    ],
    ["f", "chmod 600 f", "~ f (mode 0644 -> 0600"],
    ["d", "chmod 700 d", "~ d/ (mode 0755 -> 0700)"],
    ["f", "touch -d 2001-01-01 f", "~ f (2 B)"],
    ["d", "touch -d 2001-01-01 d", "~ d/ (times)"],
    [".", "touch -d 2001-01-01 .", "~ ./ (times)"],
  ])("finds, writes and undoes a change of only metadata: %s: %s", async (name, command, line) => {
    mkdirSync(path("d"));
    writeFileSync(path("d/inside"), "i\n");
    mkdirSync(path("d/sub"));
    writeFileSync(path("f"), "f\n");
    const entries = [
      { name: "marked", mark: "file" },
      { name: "marked-dir", mark: "directory", isDirectory: true },
    ];
    for (const entry of entries)
      execFileSync("tar", ["--extract", "--xattrs", "--xattrs-include=user.*"], {
        cwd: work(),
        input: markedArchive(entry),
      });
    writeFileSync(path("marked-dir/x"), "");
    const direct = join(world.outside(), "direct");
    execFileSync("cp", ["-a", work(), direct]);
    execFileSync("bash", ["-c", command], { cwd: direct });
    const before = snapshotOf(work());
    const { previewId, changed } = await kit().preview(command);
    expect(changed).toContain(name);
    const shown = await kit().call("Preview", { preview_id: previewId, action: "show" });
    expect(shown.output).toContain(line);
    expect(snapshotOf(work())).toEqual(before);
    await kit().previews.commit(previewId);
    expect(snapshotOf(work(), { withoutTimes: true })).toEqual(snapshotOf(direct, { withoutTimes: true }));
    expect(snapshotOf(work())).not.toEqual(before);
    await kit().previews.undo(previewId);
    expect(snapshotOf(work())).toEqual(before);
  });

  test("deletes nothing because of a name that looks like an attribute of the overlay", async () => {
    const name = `d/${"SCHILY.xattr.user.overlay.opaque=y\n".repeat(4)}`;
    mkdirSync(path(name), { recursive: true });
    writeFileSync(path(`${name}/kept`), "");
    const { deleted, created } = await kit().preview(`for d in d/*; do touch "$d/new"; done`);
    expect({ deleted, created }).toEqual({ deleted: [], created: [`${name}/new`] });
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

  test("without an id reverts the newest commit of the workspace", async () => {
    const first = await kit().preview("echo 1 >one");
    const second = await kit().preview("echo 2 >two");
    await kit().previews.commit(second.previewId);
    await kit().previews.commit(first.previewId);
    expect(await kit().previews.undo()).toEqual(["one"]);
    expect(await kit().previews.undo()).toEqual(["two"]);
    await expect(kit().previews.undo()).rejects.toMatchObject({ code: "invalid_input" });
  });
});
