import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodeCache } from "../../src/cli/code-cache.ts";

let dir = "";
let main = "";

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "nacre-cache-"));
  main = join(dir, "main.js");
  writeFileSync(
    main,
    'const path = require("node:path"); exports.part = require("./part.js"); exports.at = path.basename(__filename);',
  );
  writeFileSync(
    join(dir, "part.js"),
    "module.exports = { add: (a, b) => a + b, load: () => require('./part.js') };",
  );
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

interface Loaded {
  readonly at: string;
  readonly part: { add(a: number, b: number): number; load(): unknown };
}

const load = (cache: CodeCache) => cache.require(main) as Loaded;

test("files are loaded with what they require, each once", () => {
  const { at, part } = load(new CodeCache());
  expect([at, part.add(1, 2)]).toEqual(["main.js", 3]);
  expect(part.load()).toBe(part);
});

test("without a cache nothing fits; one that was saved does, and works", () => {
  const first = new CodeCache();
  expect(first.fits(main)).toBe(false);
  load(first).part.add(1, 2);
  first.save();
  const second = new CodeCache();
  expect(second.fits(main)).toBe(true);
  expect(load(second).part.add(2, 3)).toBe(5);
});

test("a cache that is damaged or of another file is not taken, and the file works", () => {
  const first = new CodeCache();
  load(first);
  first.save();
  const whole = readFileSync(`${main}.cache`);
  const text = readFileSync(main, "utf8");
  for (const [i, damaged] of [
    Buffer.alloc(0),
    whole.subarray(0, 40),
    Buffer.alloc(whole.length, 7),
  ].entries()) {
    writeFileSync(`${main}.cache`, damaged);
    // V8 remembers what this process has compiled before, and does not look at the cache then.
    writeFileSync(main, `${text} // ${i}`);
    const cache = new CodeCache();
    expect(cache.fits(main)).toBe(false);
    expect(load(cache).part.add(1, 1)).toBe(2);
  }
  writeFileSync(`${main}.cache`, whole);
  writeFileSync(main, "exports.at = 'another'; exports.part = require('./part.js');");
  expect(new CodeCache().fits(main)).toBe(false);
});
