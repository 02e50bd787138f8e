import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkWorkingDir } from "../../src/support/start-checks.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

describe("a working directory", () => {
  test.each([
    ["is missing", "/nowhere/at all", "does not exist"],
    ["is relative", "here", "is not an absolute path"],
    ["is empty", "", "is not an absolute path"],
    ["is a file", "/etc/passwd", "is not a directory"],
    ["is below a file", "/etc/passwd/x", "is not a directory"],
    ["contains a NUL", "/tmp/\0x", "contains a NUL character"],
  ])("that %s is refused by name", (_, dir, problem) => {
    expect(() => checkWorkingDir(dir, undefined)).toThrow(
      expect.objectContaining({ code: "spawn_failed", message: `Working directory ${problem}: ${dir}` }),
    );
  });

  test("that is a loop of links is refused by name", () => {
    const dir = directory();
    symlinkSync(join(dir, "b"), join(dir, "a"));
    symlinkSync(join(dir, "a"), join(dir, "b"));
    expect(() => checkWorkingDir(join(dir, "a"), undefined)).toThrow(
      `cannot be used (ELOOP): ${join(dir, "a")}`,
    );
  });

  test("that cannot be entered is refused to every user except root", () => {
    const dir = directory();
    chmodSync(dir, 0o600);
    const check = () => checkWorkingDir(dir, undefined);
    if (process.getuid?.() === 0) expect(check).not.toThrow();
    else expect(check).toThrow(`Working directory cannot be entered (permission denied): ${dir}`);
    chmodSync(dir, 0o700);
  });
});

describe("allowed roots", () => {
  function tree() {
    const dir = directory();
    for (const name of ["work/deep", "work2", "secret"]) mkdirSync(join(dir, name), { recursive: true });
    symlinkSync(join(dir, "secret"), join(dir, "work", "out"));
    symlinkSync(join(dir, "work", "deep"), join(dir, "in"));
    symlinkSync(join(dir, "work"), join(dir, "root"));
    writeFileSync(join(dir, "file"), "");
    return (name: string) => join(dir, name);
  }

  test("allow themselves, directories below them, and links to these directories", () => {
    const at = tree();
    for (const name of ["work", "work/deep", "work/", "work/deep/../deep", "in"]) {
      expect(() => checkWorkingDir(at(name), [at("work")])).not.toThrow();
    }
    expect(() => checkWorkingDir(at("work/deep"), [at("root")])).not.toThrow();
    expect(() => checkWorkingDir(at("secret"), ["/"])).not.toThrow();
    expect(() => checkWorkingDir(at("work2"), [at("work"), at("work2")])).not.toThrow();
  });

  test("refuse siblings, parents, and links to directories outside", () => {
    const at = tree();
    for (const name of ["work2", ".", "secret", "work/out", "work/../secret"]) {
      expect(() => checkWorkingDir(at(name), [at("work")])).toThrow(
        `Working directory is outside the allowed directories (${at("work")}): ${at(name)}`,
      );
    }
  });

  test("allow no access if they do not exist or the list is empty", () => {
    const at = tree();
    expect(() => checkWorkingDir(at("work"), [at("missing")])).toThrow("is outside the allowed directories");
    expect(() => checkWorkingDir(at("work"), [])).toThrow("is outside the allowed directories");
  });
});
