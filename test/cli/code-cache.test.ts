// The code cache. The first run of a command stores its compiled code below the state root, with a hash of each source
// file, and only if no other user can write there.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CodeCache } from "../../src/cli/code-cache.ts";
import { readCodeCache, writeCodeCache } from "../../src/cli/code-cache-file.ts";
import { CODE_CACHE_MAX_COUNT } from "../../src/support/limits.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
let base = "";
let state = "";
let dir = "";

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "nacre-cache-"));
  state = join(base, "state");
  dir = join(state, "code-cache");
});

afterEach(() => removeAfterRun(base));

test("the cache loads a file and its dependencies, and each of them only once", () => {
  const main = join(base, "main.js");
  writeFileSync(
    main,
    'exports.part = require("./part.js"); exports.at = require("node:path").basename(__filename);',
  );
  writeFileSync(
    join(base, "part.js"),
    "module.exports = { add: (a, b) => a + b, load: () => require('./part.js') };",
  );
  const cache = new CodeCache({ dir: undefined, name: "run" });
  const { at, part } = cache.require(main) as {
    readonly at: string;
    readonly part: { add(a: number, b: number): number; load(): unknown };
  };
  expect([at, part.add(1, 2), part.load() === part, cache.isComplete]).toEqual(["main.js", 3, true, false]);
  cache.save();
});

describe("a cache file", () => {
  const entries = [
    { file: "a.js", hash: "1", code: Buffer.from("code of a") },
    { file: "b.js", hash: "2", code: Buffer.alloc(0) },
  ];
  const read = () =>
    [...readCodeCache(dir, "run").values()].map(({ file, hash, code }) => [file, hash, String(code)]);
  const whole = [
    ["a.js", "1", "code of a"],
    ["b.js", "2", ""],
  ];
  const file = () => join(dir, "run.bin");

  beforeEach(() => mkdirSync(state, { mode: 0o700 }));

  test("has private permissions, and is read back unchanged", () => {
    writeCodeCache(dir, "run", entries);
    expect(read()).toEqual(whole);
    expect([statSync(dir).mode & 0o777, statSync(file()).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(dir)).toEqual(["run.bin"]);
  });

  test("is not read if a byte is changed or missing", () => {
    writeCodeCache(dir, "run", entries);
    const good = readFileSync(file());
    for (let at = 0; at < good.length; at++) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 1;
      writeFileSync(file(), bad);
      expect([at, read()]).toEqual([at, []]);
      writeFileSync(file(), good.subarray(0, at));
      expect([at, read()]).toEqual([at, []]);
    }
    writeFileSync(file(), good);
    expect(read()).toEqual(whole);
  });

  test.each<[string, () => void]>([
    ["the directory can be written by others", () => chmodSync(dir, 0o777)],
    ["the directory can be written by the group", () => chmodSync(dir, 0o770)],
    ["the state root can be written by others", () => chmodSync(state, 0o777)],
    ["the file can be written by others", () => chmodSync(file(), 0o666)],
    [
      "the directory is a link",
      () => {
        renameSync(dir, join(base, "elsewhere"));
        symlinkSync(join(base, "elsewhere"), dir);
      },
    ],
    [
      "the file is a link",
      () => {
        renameSync(file(), join(base, "elsewhere"));
        symlinkSync(join(base, "elsewhere"), file());
      },
    ],
    [
      "the file is a fifo",
      () => {
        rmSync(file());
        execFileSync("mkfifo", [file()]);
      },
    ],
  ])("is not read if %s", (_title, spoil) => {
    writeCodeCache(dir, "run", entries);
    spoil();
    expect(read()).toEqual([]);
  });

  test("is not read from a directory, a state root or a file of another user", ({ skip }) => {
    skip(process.geteuid?.() !== 0, "only root can give files away");
    for (const path of [file, () => dir, () => state]) {
      writeCodeCache(dir, "run", entries);
      expect(read()).toEqual(whole);
      chownSync(path(), 65_534, 65_534);
      expect(read()).toEqual([]);
      chownSync(path(), 0, 0);
    }
  });

  test("is not written where other users can write, and no error is thrown", () => {
    chmodSync(state, 0o777);
    writeCodeCache(dir, "run", entries);
    expect(existsSync(file())).toBe(false);
    rmSync(state, { recursive: true });
    writeFileSync(state, "a file");
    writeCodeCache(dir, "run", entries);
    writeCodeCache("/proc/nowhere/code-cache", "run", entries);
  });

  test("a write removes the oldest cache files and the temporary files of interrupted writes", () => {
    mkdirSync(dir, { mode: 0o700 });
    for (let i = 0; i < CODE_CACHE_MAX_COUNT + 5; i++) {
      writeFileSync(join(dir, `old-${i}.bin`), "x");
      utimesSync(join(dir, `old-${i}.bin`), 1_000 + i, 1_000 + i);
    }
    writeFileSync(join(dir, "half.tmp"), "x");
    utimesSync(join(dir, "half.tmp"), 1_000, 1_000);
    writeCodeCache(dir, "run", entries);
    const names = readdirSync(dir);
    expect(names).toHaveLength(CODE_CACHE_MAX_COUNT);
    expect(names).toContain("run.bin");
    expect(names).not.toContain("half.tmp");
    expect(names).not.toContain("old-0.bin");
  });
});

describe("the built program", () => {
  /** Returns a copy of the program whose commands only print a word. */
  function programThatPrints(word: string): string {
    const main = join(base, "dist/cli/main.js");
    if (!existsSync(main)) cpSync(join(root, "dist/cli"), dirname(main), { recursive: true });
    writeFileSync(
      join(base, "dist/cli/start.js"),
      `exports.start = async () => console.log(${JSON.stringify(word)});`,
    );
    return main;
  }
  const env = () => ({ ...process.env, NACRE_HOME: state });
  const run = (main: string, ...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], { env: env(), encoding: "utf8", cwd: base });
  const inodes = () => readdirSync(dir).map((name) => [name, statSync(join(dir, name)).ino]);

  beforeEach(() => mkdirSync(state, { mode: 0o700 }));

  test("stores the code of its first run, and the next run uses it", () => {
    const main = join(root, "dist/cli/main.js");
    expect(run(main, "run", "echo hi")).toMatchObject({ status: 0, stdout: "hi\n", stderr: "" });
    const kept = inodes();
    expect(kept).toEqual([[expect.stringMatching(/^run-v[\d.]+-\w+-\w+\.bin$/), expect.any(Number)]]);
    expect(run(main, "run", "echo hi")).toMatchObject({ status: 0, stdout: "hi\n", stderr: "" });
    // If the cache were incomplete, the second run would have rewritten it.
    expect(inodes()).toEqual(kept);
    expect(run(main, "check", "ls").status).toBe(0);
    expect(inodes()).toHaveLength(2);
  });

  test("recompiles a source file whose content changed but whose length did not", () => {
    expect(run(programThatPrints("one"), "run").stdout).toBe("one\n");
    expect(run(programThatPrints("one"), "run").stdout).toBe("one\n");
    expect(run(programThatPrints("two"), "run").stdout).toBe("two\n");
    expect(run(programThatPrints("one"), "run").stdout).toBe("one\n");
  });

  test("creates no state directory for a command that needs none", () => {
    rmSync(state, { recursive: true });
    expect(run(join(root, "dist/cli/main.js"), "check", "ls").status).toBe(0);
    expect(existsSync(state)).toBe(false);
  });

  test("stores nothing after a usage error", () => {
    expect(run(join(root, "dist/cli/main.js"), "nonsense").status).toBe(2);
    expect(existsSync(dir)).toBe(false);
  });

  test("works if many first runs start at once", async () => {
    const main = join(root, "dist/cli/main.js");
    const codes = Array.from({ length: 6 }, async () => {
      const child = spawn(process.execPath, [main, "run", "true"], {
        env: env(),
        cwd: base,
        stdio: "ignore",
      });
      return (await once(child, "exit"))[0];
    });
    expect(await Promise.all(codes)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(readdirSync(dir)).toHaveLength(1);
    expect(run(main, "run", "echo hi").stdout).toBe("hi\n");
  });

  test("works if the cache cannot be stored", () => {
    writeFileSync(dir, "a file");
    expect(run(programThatPrints("one"), "run")).toMatchObject({ status: 0, stdout: "one\n", stderr: "" });
    for (const home of ["/dev/null", "/proc/nowhere", "relative"]) {
      const { status, stdout } = spawnSync(process.execPath, [programThatPrints("one"), "run"], {
        env: { ...process.env, NACRE_HOME: home },
        encoding: "utf8",
      });
      expect([home, status, stdout]).toEqual([home, 0, "one\n"]);
    }
  });
});

test("the published package contains no compiled code", () => {
  const out = execFileSync("npm", ["pack", "--dry-run", "--json", "--silent"], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ files }] = JSON.parse(out) as [{ files: readonly { readonly path: string }[] }];
  expect(files.length).toBeGreaterThan(100);
  expect(
    files.map(({ path }) => path).filter((path) => /\.(cache|bin|blob)$|code-cache\//.test(path)),
  ).toEqual([]);
});
