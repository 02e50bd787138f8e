// If a commit fails between its steps, the workspace and the records still agree.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { snapshotOf } from "../fixtures/trees.ts";

const world = useFileTools({ with: ["preview"], policy: "off" });
const { kit, path, work } = world;
const previews = (...names: string[]) => join(work(), "../state/previews", ...names);

describeSandboxed("a commit that fails", () => {
  test("before its first step reports afterwards that another program has changed a file", async () => {
    for (const name of ["a", "c"]) writeFileSync(path(name), `${name}\n`);
    const { previewId } = await kit().preview("echo new >>a; echo new >>c");
    // Only the ctime differs afterwards.
    chmodSync(path("a"), 0o600);
    chmodSync(path("a"), 0o644);
    const before = snapshotOf(work());
    writeFileSync(previews("pending"), "in the way");
    await expect(kit().previews.commit(previewId, ["c"])).rejects.toThrow();
    rmSync(previews("pending"));
    expect(snapshotOf(work())).toEqual(before);
    await expect(kit().previews.commit(previewId)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("a has changed since the preview"),
    });
    await kit().previews.commit(previewId, ["c"]);
    expect(readFileSync(path("c"), "utf8")).toBe("c\nnew\n");
  });

  test("after its last step says that its changes are in the workspace; a second commit completes it", async () => {
    writeFileSync(path("old"), "old\n");
    const before = snapshotOf(work());
    const { previewId } = await kit().preview("echo 1 >one; echo 2 >two; rm old");
    const obstacle = previews(previewId, "changes.json.new");
    mkdirSync(obstacle);
    await expect(kit().previews.commit(previewId, ["one"])).rejects.toMatchObject({
      code: "internal",
      message: expect.stringMatching(/^The changes of preview \S+ are in the workspace, but/),
    });
    expect([existsSync(path("one")), existsSync(path("two"))]).toEqual([true, false]);
    rmdirSync(obstacle);
    expect(await kit().previews.commit(previewId)).toMatchObject({ status: "committed" });
    expect([existsSync(path("one")), existsSync(path("two")), existsSync(path("old"))]).toEqual([
      true,
      true,
      false,
    ]);
    await kit().previews.undo(previewId);
    await kit().previews.undo(previewId);
    expect(snapshotOf(work())).toEqual(before);
  });
});
