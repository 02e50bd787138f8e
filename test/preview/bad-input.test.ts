// nacre refuses previews that are unknown, gone or in use, and paths that are not in a preview.
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sweepPreviews } from "../../src/preview/sweep-previews.ts";
import { useFileTools } from "../fixtures/file-tools.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";

const world = useFileTools({ with: ["preview"] });
const { kit, path, work } = world;

describeSandboxed("invalid use of a preview", () => {
  test("unknown, committed, discarded and undone previews, and paths that are not in a preview, are refused", async () => {
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

  test("a preview of another scope counts as unknown", async () => {
    const { previewId } = await kit().preview("echo 1 >one");
    const other = await world.open({ scope: "other" });
    expect(await other.call("Preview", { preview_id: previewId, action: "commit" })).toMatchObject({
      code: "invalid_input",
    });
  });

  test("a swept preview is refused with the code swept, and its record stays", async () => {
    const { previewId } = await kit().preview("echo 1 >one");
    const store = kit().manager.previews;
    await sweepPreviews(store, { nowMs: Date.now() + 1000, maxAgeMs: 0, quotaBytes: 1e12 });
    for (const action of ["commit", "undo", "show", "diff", "discard"] as const)
      expect(await kit().call("Preview", { preview_id: previewId, action })).toMatchObject({ code: "swept" });
    expect(kit().previews.list()).toMatchObject([{ previewId, status: "swept" }]);
    expect(readdirSync(store.dirOf(previewId))).toEqual(["preview.json"]);
  });

  test("a sweep by quota removes the oldest preview first", async () => {
    const first = await kit().preview("head -c 3000000 /dev/urandom >one");
    const second = await kit().preview("head -c 3000000 /dev/urandom >two");
    await sweepPreviews(kit().manager.previews, { nowMs: Date.now(), maxAgeMs: 1e9, quotaBytes: 4_000_000 });
    expect(
      kit()
        .previews.list()
        .map(({ previewId, status }) => [previewId, status]),
    ).toEqual([
      [first.previewId, "swept"],
      [second.previewId, "pending"],
    ]);
  });

  test("if two commits run at the same time, one writes and the other is refused", async () => {
    const { previewId } = await kit().preview("echo 1 >one");
    const other = await world.open();
    const ends = await Promise.allSettled([kit(), other].map((one) => one.previews.commit(previewId)));
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = ends.find((end) => end.status === "rejected");
    expect(refused).toMatchObject({ reason: { message: expect.stringContaining("It was committed") } });
  });

  test("a commit reports a missing workspace as a conflict", async () => {
    const { previewId } = await kit().preview("echo 1 >one; mkdir d; echo 2 >d/two");
    rmSync(work(), { recursive: true });
    await expect(kit().previews.commit(previewId)).rejects.toMatchObject({ code: "conflict" });
    expect(existsSync(work())).toBe(false);
  });

  test("a command that writes past the cap is ended, and the workspace is untouched", async () => {
    const small = await world.open({ maxPreviewBytes: 2_000_000 });
    const result = await small.preview("while :; do head -c 1000000 /dev/zero >>big; done");
    expect(result.exitCode).not.toBe(0);
    expect(result.notes.join("\n")).toContain("wrote more than 2000000 bytes");
    expect(result).toMatchObject({ created: [], changed: [], deleted: [] });
    expect(readdirSync(work())).toEqual([]);
    expect(existsSync(small.manager.previews.dirOf(result.previewId).concat("/upper"))).toBe(false);
  });

  test("a workspace with files of other users is refused with the cause", async ({ skip }) => {
    skip(process.getuid?.() !== 0, "needs root, to create a file of another user");
    writeFileSync(path("theirs"), "");
    chownSync(path("theirs"), 65_534, 65_534);
    await expect(kit().preview("true")).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("theirs belongs to another user"),
    });
  });
});

describeSandboxed("an approval", () => {
  test("shows the preview of its command; if there is no preview, the refusal offers one", async () => {
    writeFileSync(path("f"), "");
    const command = "rm -rf -- *";
    await expect(kit().run(command)).rejects.toMatchObject({
      code: "approval_pending",
      message: expect.stringContaining("preview: true shows what it would change"),
    });
    const { previewId } = await kit().preview(command);
    await expect(kit().run(command)).rejects.toMatchObject({
      message: expect.not.stringContaining("preview: true"),
    });
    expect(kit().approvals.list()).toMatchObject([{ command, preview: { id: previewId, paths: ["- f"] } }]);
    await expect(kit().run("git push --force")).rejects.toMatchObject({
      message: expect.not.stringContaining("preview: true"),
    });
  });

  test("of a commit lists what the preview changed", async () => {
    mkdirSync(path("src"));
    const { previewId } = await kit().preview("git push --force || rm -rf src");
    await expect(kit().previews.commit(previewId)).rejects.toMatchObject({ code: "approval_pending" });
    expect(kit().approvals.list()).toMatchObject([
      { preview: { id: previewId, created: 0, changed: 0, deleted: 1, not_captured: 0, paths: ["- src"] } },
    ]);
  });
});
