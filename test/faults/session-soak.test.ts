// One session over a long life: every answer right, nothing grows. 10,000 commands with NACRE_LONG=1.
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { bytesOf, openSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();

const COMMANDS = process.env["NACRE_LONG"] ? 10_000 : 600;
const WARM_UP = COMMANDS / 4;
const RSS_GROWTH_MAX_BYTES = 16 * 1024 ** 2;

/** What command number i is, and what it must answer. */
function planned(i: number): { command: string; code: number; out: string; err: string } {
  switch (i % 10) {
    case 0:
      return { command: `x=${i}; echo "$x"`, code: 0, out: `${i}\n`, err: "" };
    case 1:
      return { command: "echo $x $?", code: 0, out: `${i - 1} 0\n`, err: "" };
    case 2:
      return { command: `(exit ${i % 200})`, code: i % 200, out: "", err: "" };
    case 3:
      return { command: `echo $?; printf %s 'ä${i}' >&2`, code: 0, out: `${(i - 1) % 200}\n`, err: `ä${i}` };
    case 4:
      return { command: `seq ${i % 500}`, code: 0, out: count(i % 500), err: "" };
    case 5:
      return { command: `echo ${i} | cat | tr 0-9 a-j`, code: 0, out: `${letters(i)}\n`, err: "" };
    case 6:
      return { command: `sleep 0.001 & echo ${i}; wait`, code: 0, out: `${i}\n`, err: "" };
    case 7:
      return { command: `f() { echo "f$1"; }; f ${i}`, code: 0, out: `f${i}\n`, err: "" };
    case 8:
      return { command: `# nothing ${i}`, code: 0, out: "", err: "" };
    default:
      // Once in a while the bash ends.
      return i % 100 === 99
        ? { command: `echo ${i}; exit 7`, code: 7, out: `${i}\n`, err: "" }
        : { command: `cat <<EOF\n${i}\nEOF`, code: 0, out: `${i}\n`, err: "" };
  }
}

function count(to: number): string {
  return Array.from({ length: to }, (_, i) => `${i + 1}\n`).join("");
}

function letters(number: number): string {
  return String(number).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
}

function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

test(`${COMMANDS} commands in one session: none wrong, nothing grows`, { timeout: 3_600_000 }, async () => {
  const { session, run, manager } = openSession(shells);
  const wrong: unknown[] = [];
  const round = async (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const { command, ...expected } = planned(i);
      const result = await session.run(command);
      const got = {
        code: result.exitCode,
        out: bytesOf(result.stdout).toString(),
        err: bytesOf(result.stderr).toString(),
      };
      if (JSON.stringify(got) !== JSON.stringify(expected)) wrong.push({ i, command, expected, got });
    }
  };
  // What grows once has grown after this.
  await round(0, WARM_UP);
  const before = { files: openFiles(), rss: process.memoryUsage().rss };
  await round(WARM_UP, COMMANDS);
  expect(wrong).toEqual([]);
  await eventually(() => expect(openFiles()).toBeLessThanOrEqual(before.files));
  expect(process.memoryUsage().rss - before.rss).toBeLessThanOrEqual(RSS_GROWTH_MAX_BYTES);
  const bashes = manager.root.list().length;
  expect(bashes).toBeLessThanOrEqual(COMMANDS / 100 + 4);
  expect((await run("jobs")).out).toBe("");
});
