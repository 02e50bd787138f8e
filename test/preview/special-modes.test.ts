// No commit writes a setuid file, because another user could run it with the rights of nacre's user. A
// preview shows setgid files.
import { chmodSync, linkSync, statSync, writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";

const world = useFileTools({ with: ["preview"], policy: "off" });
const { kit, path } = world;
const architecture = process.arch;

afterEach(() => {
  Object.defineProperty(process, "arch", { value: architecture });
});

const modeOf = (name: string) => (statSync(path(name)).mode & 0o7777).toString(8);

function plant(name: string, mode: number): void {
  writeFileSync(path(name), "text\n");
  chmodSync(path(name), mode);
}

async function show(previewId: string): Promise<string> {
  const result = await kit().call("Preview", { preview_id: previewId, action: "show" });
  return result.toDisplay();
}

describeSandboxed("a preview", () => {
  test("shows setgid files that the command creates or changes", async () => {
    plant("old", 0o2755);
    const { previewId } = await kit().preview(
      "echo x >new; chmod 2755 new; mkdir dir; chmod g+s dir; touch old",
    );
    const text = await show(previewId);
    expect(text).toContain("+ new (2 B, setgid)");
    expect(text).toContain("~ old (5 B, setgid)");
    expect(text).toContain("+ dir/ (directory)");
    await kit().previews.commit(previewId);
    expect([modeOf("new"), modeOf("old"), modeOf("dir")]).toEqual(["2755", "2755", "2755"]);
  });

  test("refuses to set the setuid bit, even without a sandbox", async () => {
    const { exitCode, stderr, notCaptured } = await kit().preview("touch x; chmod 4755 x");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Operation not permitted");
    expect(notCaptured).toEqual([]);
  });

  test("removes the setuid bit of files that the command renames or changes, and lists these files", async () => {
    for (const name of ["moved", "touched", "untouched"]) plant(name, 0o4755);
    linkSync(path("touched"), path("twin"));
    const { previewId, notCaptured } = await kit().preview("mv moved new; touch touched; cat untouched");
    const left = (name: string) => `${name}: its setuid bit; a commit leaves it out`;
    expect(notCaptured).toEqual(["new", "touched", "twin"].map(left));
    expect(await show(previewId)).toContain("mode 4755 -> 0755");
    await kit().previews.commit(previewId);
    const modes = ["new", "touched", "twin", "untouched"].map(modeOf);
    expect(modes).toEqual(["755", "755", "755", "4755"]);
    await kit().previews.undo(previewId);
    expect([modeOf("moved"), modeOf("touched")]).toEqual(["4755", "4755"]);
  });

  test("shows a new hard link to a setuid file of the workspace", async () => {
    plant("tool", 0o4755);
    const { previewId, notCaptured } = await kit().preview("ln tool second");
    expect(notCaptured).toEqual([]);
    expect(await show(previewId)).toContain("+ second (5 B, setuid)");
  });

  test("commits no setuid file, even without a system call filter", async () => {
    Object.defineProperty(process, "arch", { value: "arm64" });
    const { previewId, notCaptured, exitCode } = await kit().preview("touch x y; chmod 6755 x; chmod 4711 y");
    expect(exitCode).toBe(0);
    expect(notCaptured).toHaveLength(2);
    await kit().previews.commit(previewId);
    expect([modeOf("x"), modeOf("y")]).toEqual(["2755", "711"]);
  });
});
