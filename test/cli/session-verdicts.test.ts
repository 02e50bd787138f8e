// Earlier commands of a named session change the verdict of its next command, in every form of `nacre run`.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();
const REFUSED = 3;

const FORMS: readonly (readonly [string, readonly string[]])[] = [
  ["plain", []],
  ["--json", ["--json"]],
  ["-b", ["-b"]],
  ["--dry-run", ["--dry-run"]],
];

const CHANGES: readonly (readonly [string, string, string])[] = [
  ["a function cd", "cd() { builtin cd /nonexistent; }", "cd build && rm -rf *"],
  ["an alias", "shopt -s expand_aliases; alias tidy='rm -rf'", "tidy *"],
];

test.each(
  CHANGES.flatMap(([what, change, command]) =>
    FORMS.map(([form, args]) => ({ what, change, command, form, args })),
  ),
)(
  "$what of a named session changes the verdict of its next command ($form)",
  async ({ change, command, args }) => {
    const work = join(dir(), "work");
    mkdirSync(join(work, "build"), { recursive: true });
    writeFileSync(join(work, "kept"), "");
    const inSession = (name: string, text: string, ...more: readonly string[]) =>
      nacre("run", "--session", name, "--cwd", work, ...more, text);
    const before = await inSession("plain", command, "--dry-run");
    expect((await inSession("changed", change)).code).toBe(0);
    const after = await inSession("changed", command, ...args);
    expect([before.code, after.code]).toEqual([0, REFUSED]);
    expect(existsSync(join(work, "kept"))).toBe(true);
  },
);
