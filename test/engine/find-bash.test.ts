import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findBash } from "../../src/engine/find-bash.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const STANDARD_BASH = /^(\/usr\/local)?(\/usr)?\/bin\/bash$/;

function executable(path: string): string {
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}

describe("a chosen shell", () => {
  test("is used without a search", () => {
    const bash = executable(join(directory(), "my bash"));
    expect(findBash(bash, undefined)).toBe(bash);
  });

  test.each([
    ["that is missing", "/nowhere/bash", "it does not exist"],
    ["below a file", "/etc/passwd/bash", "it does not exist"],
    ["that is a directory", "/usr", "it is not a file"],
    ["that is relative", "bin/bash", "it is not an absolute path"],
    ["that is empty", "", "it is not an absolute path"],
  ])("%s is refused by name", (_, path, reason) => {
    expect(() => findBash(path, process.env["PATH"])).toThrow(
      expect.objectContaining({
        code: "spawn_failed",
        message: `The shell ${path} cannot be used: ${reason}.`,
      }),
    );
  });

  test("that is not executable is refused by name", () => {
    const file = join(directory(), "bash");
    writeFileSync(file, "", { mode: 0o644 });
    expect(() => findBash(file, undefined)).toThrow(
      `The shell ${file} cannot be used: it is not executable.`,
    );
  });
});

describe("the bash of PATH", () => {
  test("is the first executable file; directories, other files and broken links are skipped", () => {
    const dir = directory();
    for (const name of ["dir", "plain", "broken", "good", "later"]) mkdirSync(join(dir, name));
    mkdirSync(join(dir, "dir", "bash"));
    writeFileSync(join(dir, "plain", "bash"), "", { mode: 0o644 });
    symlinkSync("/nowhere", join(dir, "broken", "bash"));
    executable(join(dir, "later", "bash"));
    const good = executable(join(dir, "good", "bash"));
    const path = ["dir", "plain", "broken", "missing", "good", "later"]
      .map((name) => join(dir, name))
      .join(":");
    expect(findBash(undefined, path)).toBe(good);
  });

  test.each([
    ["missing", undefined],
    ["empty", ""],
    ["made of empty entries", "::"],
    ["relative", ".:bin:./x"],
    ["without bash", "/nowhere:/etc/passwd"],
  ])("is found in the standard directories if PATH is %s", (_, path) => {
    expect(findBash(undefined, path)).toMatch(STANDARD_BASH);
  });

  test("is never found through a relative entry of PATH", () => {
    const dir = directory();
    executable(join(dir, "bash"));
    const before = process.cwd();
    process.chdir(dir);
    try {
      expect(findBash(undefined, ".:")).toMatch(STANDARD_BASH);
    } finally {
      process.chdir(before);
    }
  });
});
