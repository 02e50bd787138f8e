import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  defaultStateRoot,
  KEEPER_NAMES,
  NEW_SUFFIX,
  ownerName,
  RESTORED_SUFFIX,
  SHELL_NAMES,
  StateRoot,
} from "../../src/engine/state-dir.ts";
import { NacreError } from "../../src/support/errors.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("the default state root", () => {
  const home = join(homedir(), ".local", "state", "nacre");

  test.each([
    [{ NACRE_HOME: "/n", XDG_STATE_HOME: "/x" }, "/n"],
    [{ NACRE_HOME: "", XDG_STATE_HOME: "/x" }, "/x/nacre"],
    [{ XDG_STATE_HOME: "/x y/é" }, "/x y/é/nacre"],
    [{ XDG_STATE_HOME: "relative" }, home],
    [{ XDG_STATE_HOME: "" }, home],
    [{}, home],
  ])("with %j is %s", (env, root) => {
    expect(defaultStateRoot(env)).toBe(root);
  });

  test("must be an absolute path in NACRE_HOME: a relative path would depend on the current directory", () => {
    expect(() => defaultStateRoot({ NACRE_HOME: "here" })).toThrow(
      "NACRE_HOME must be an absolute path; it is here.",
    );
  });
});

describe("a state root", () => {
  test.each(["plain", "with space", "naïve-漢字-🐚", "new\nline", "a/b/c"])(
    "called %j is created for this user only",
    (name) => {
      const root = new StateRoot(join(directory(), name));
      root.ensure();
      for (const path of [root.path, root.shellsDir, root.keepersDir]) expect(modeOf(path)).toBe(0o700);
      expect(root.list()).toEqual([]);
    },
  );

  test("that other users can read is made private", () => {
    const path = join(directory(), "open");
    mkdirSync(path);
    chmodSync(path, 0o755);
    new StateRoot(path).ensure();
    expect(modeOf(path)).toBe(0o700);
  });

  test("can be created twice and keeps its content", () => {
    const root = new StateRoot(join(directory(), "twice"));
    root.ensure();
    mkdirSync(root.files("shell_00000001").dir);
    root.ensure();
    expect(root.list()).toEqual(["shell_00000001"]);
  });

  test("may be a link to a directory", () => {
    const dir = directory();
    mkdirSync(join(dir, "real"));
    symlinkSync(join(dir, "real"), join(dir, "link"));
    new StateRoot(join(dir, "link")).ensure();
    expect(statSync(join(dir, "real", "shells")).isDirectory()).toBe(true);
  });

  test("that does not exist lists nothing", () => {
    expect(new StateRoot(join(directory(), "missing")).list()).toEqual([]);
  });
});

describe("an unusable state root", () => {
  test("is named when it is relative", () => {
    expect(refusal("state/here")).toBe("The state directory must be an absolute path: state/here");
  });

  test("is named when it is a file", () => {
    const file = join(directory(), "file");
    writeFileSync(file, "");
    expect(refusal(file)).toContain(`The state directory ${file} cannot be used: `);
    expect(refusal(file)).toContain("Set NACRE_HOME to a directory you own.");
  });

  test("is named when a parent is a file", () => {
    const file = join(directory(), "file");
    writeFileSync(file, "");
    expect(refusal(join(file, "state"))).toContain(`${join(file, "state")} cannot be used: `);
  });

  test("is named when it belongs to another user", () => {
    const dir = isRoot ? directory() : "/usr";
    if (isRoot) chownSync(dir, 12_345, 12_345);
    expect(refusal(dir)).toContain(`belongs to another user (uid ${isRoot ? 12_345 : 0})`);
  });

  test("is named when it is not writable", () => {
    // No user, not even root, can create a directory in /sys.
    expect(refusal("/sys/nacre")).toContain("/sys/nacre cannot be used: ");
    if (isRoot) return;
    const dir = directory();
    chmodSync(dir, 0o500);
    expect(refusal(dir)).toContain(`${dir} cannot be used: `);
    chmodSync(dir, 0o700);
  });
});

test("all files of a shell are in its own directory", () => {
  const { dir, ...files } = new StateRoot("/r").files("shell_0badcafe");
  expect(dir).toBe("/r/shells/shell_0badcafe");
  const paths = Object.values(files);
  expect(paths.every((path) => path.startsWith(`${dir}/`))).toBe(true);
  expect(new Set(paths).size).toBe(paths.length);
});

function refusal(path: string): string {
  try {
    new StateRoot(path).ensure();
  } catch (error) {
    expect(error).toBeInstanceOf(NacreError);
    expect(error).toMatchObject({ code: "spawn_failed" });
    return error instanceof Error ? error.message : "";
  }
  return "it was accepted";
}

describe("the bash scripts use the names in state-dir.ts", () => {
  const scripts = join(import.meta.dirname, "../../src/engine");
  const lines = readdirSync(scripts)
    .filter((name) => name.endsWith(".sh"))
    .flatMap((name) => readFileSync(join(scripts, name), "utf8").split("\n"))
    .filter((line) => !/^\s*#|^\. /.test(line));

  /** The names that follow one of these variables and a slash, except those in /proc. */
  function namesAfter(variables: string): string[] {
    const path = new RegExp(`(?<!/proc/[^\\s"]*)\\$(?:${variables})"?/([a-z][\\w.*-]*)`, "g");
    const names = lines.flatMap((line) => [...line.matchAll(path)].map(([, name = ""]) => name));
    return [...new Set(names.map((name) => name.replace(new RegExp(`\\${NEW_SUFFIX}$`), "")))].sort();
  }

  test("of a shell's directory", () => {
    const { durable, command, fault, identity, meta, record, start, stderr, stdout, times, trailer } =
      SHELL_NAMES;
    const owners = ownerName(1).replace("1", "*");
    expect(namesAfter("dir|1|\\{0%/\\*\\}")).toEqual(
      [durable, command, fault, identity, meta, owners, record, start, stderr, stdout, times, trailer].sort(),
    );
  });

  test("of a keeper's directory", () => {
    const { covered, identity, logger } = KEEPER_NAMES;
    expect(namesAfter("keeper_dir")).toEqual([covered, identity, logger].sort());
  });

  test("of a restored file", () => {
    expect(lines.join("\n")).toContain(`"$2${RESTORED_SUFFIX}"`);
  });
});
