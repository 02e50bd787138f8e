import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFields, parseAnswer } from "../../src/engine/protocol.ts";
import { BASH } from "../fixtures/keepers.ts";

test("every answer is parsed into its fields", () => {
  expect(parseAnswer("hello 1 12 345 tag 6b8b-boot 4026531836 5.2.15(1)-release")).toEqual({
    kind: "hello",
    version: 1,
    pid: 12,
    startTime: "345",
    tagged: true,
    bootId: "6b8b-boot",
    pidNamespace: "4026531836",
    bashVersion: "5.2.15(1)-release",
  });
  expect(parseAnswer("hello 1 12 345 none b 0 5.2")).toMatchObject({ tagged: false });
  expect(parseAnswer("fatal cannot write to /a b")).toEqual({
    kind: "fatal",
    reason: "cannot write to /a b",
  });
  expect(parseAnswer("ready 7 21 22 999 23 24")).toEqual({
    kind: "ready",
    generation: "7",
    shimPid: 21,
    commandPid: 22,
    commandStart: "999",
    outLogger: 23,
    errLogger: 24,
  });
  expect(parseAnswer("logging lo1 25")).toEqual({ kind: "logging", name: "lo1", pid: 25 });
  expect(parseAnswer("no lo1")).toEqual({ kind: "no", name: "lo1" });
  expect(parseAnswer("failed 7")).toEqual({ kind: "failed", generation: "7" });
  expect(parseAnswer("exit 7 3 - 10 20 1.50")).toMatchObject({
    kind: "exit",
    generation: "7",
    record: { code: 3, stdoutBytes: 10, stderrBytes: 20, endedUptimeMs: 1_500 },
  });
});

test.each([
  "",
  " ",
  "hello",
  "hello 1 2 3",
  "ready 7 21 22",
  "ready",
  "exit 7",
  "exit 7 0 - 10 20",
  "exit 7 256 - 0 0 1.0",
  "exit 7 0 z 0 0 1.0",
  "error protocol what",
  "HELLO 1 12 345 tag b 0 5.2",
  "\0\xff",
])("the line %j is unknown, and kept for diagnosis", (line) => {
  expect(parseAnswer(line)).toEqual({ kind: "unknown", line });
});

test("the parser never throws, and parses only a line with a complete record as an exit", () => {
  const words = fc.array(
    fc.constantFrom("hello", "ready", "exit", "failed", "0", "7", "-", "c", "1.0", "x", ""),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        words.map((list) => list.join(" ")),
      ),
      (line) => {
        const answer = parseAnswer(line);
        if (answer.kind === "exit") expect(line).toMatch(/^exit \S* \d+ (-|[cflu]+) \d+ \d+ \d+(\.\d+)?$/);
      },
    ),
    { numRuns: 500 },
  );
});

test("bash reads fields with any characters except NUL unchanged", () => {
  const fields = [
    "plain",
    "",
    "two words",
    "new\nline",
    "$(id) `id` \\ \"'",
    "é漢🐚",
    "-n",
    "tab\t",
    " edges ",
  ];
  const script = "while IFS= read -r -d '' field; do printf '<%s>' \"$field\"; done";
  const read = execFileSync(BASH, ["-c", script], { input: encodeFields(fields), encoding: "utf8" });
  expect(read).toBe(fields.map((field) => `<${field}>`).join(""));
});
