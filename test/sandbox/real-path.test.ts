// A sandbox resolves links in its paths, and can hide paths that do not exist.
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realPath } from "../../src/sandbox/real-path.ts";
import { sandboxSpec } from "../../src/sandbox/sandbox-options.ts";
import { viewOf } from "../../src/sandbox/view.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

test("links are resolved anywhere in a path, and missing components stay unchanged", () => {
  const dir = realpathSync(directory());
  mkdirSync(join(dir, "a/b"), { recursive: true });
  writeFileSync(join(dir, "a/b/file"), "");
  symlinkSync("a/b", join(dir, "to-b"));
  symlinkSync("file", join(dir, "a/b/to-file"));
  expect(realPath(join(dir, "to-b/to-file"))).toBe(join(dir, "a/b/file"));
  expect(realPath(join(dir, "to-b/missing/more"))).toBe(join(dir, "a/b/missing/more"));
});

test("a dangling link resolves to the path where the kernel would create the file", () => {
  const dir = realpathSync(directory());
  mkdirSync(join(dir, "a/b"), { recursive: true });
  symlinkSync("a/b", join(dir, "to-b"));
  symlinkSync("../missing", join(dir, "a/b/to-missing"));
  expect(realPath(join(dir, "to-b/to-missing"))).toBe(join(dir, "a/missing"));
  writeFileSync(join(dir, "to-b/to-missing"), "");
  expect(realpathSync(join(dir, "to-b/to-missing"))).toBe(join(dir, "a/missing"));
});

test("a loop of links is refused", () => {
  const dir = directory();
  symlinkSync("two", join(dir, "one"));
  symlinkSync("one", join(dir, "two"));
  expect(() => realPath(join(dir, "one"))).toThrow("Too many links");
});

test("a hundred missing paths can be hidden", () => {
  const workspace = realpathSync(directory());
  const stateRoot = directory();
  const hide = Array.from({ length: 100 }, (_, index) => `missing-${index}`);
  const spec = sandboxSpec(
    { sandbox: "workspace-write", hide },
    { workspace, stateRoots: [stateRoot], trusted: [] },
  );
  if (!spec) throw new Error("no sandbox");
  const { placeholders } = viewOf(spec, {
    visibleState: { stateRoot, readable: [], writable: [] },
    repositories: [],
    isPlaceholder: () => false,
    emptyDir: join(stateRoot, "empty"),
  });
  const held = placeholders.map(({ path }) => path);
  for (const name of hide) expect(held).toContain(join(workspace, name));
});
