import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { createToolkit, type ToolkitOptions } from "../../src/toolkit.ts";

const workingDir = tmpdir();

test.each([
  [
    "an unknown option",
    { workingDir, dialekt: "modes" },
    "createToolkit has no option dialekt. Did you mean dialect?",
  ],
  [
    "one that resembles none",
    { workingDir, zzz: 1 },
    /createToolkit has no option zzz. There are: workingDir, /,
  ],
  ["no directory", {}, /The option workingDir is missing/],
  [
    "a relative one",
    { workingDir: "here" },
    /workingDir must be an absolute path of a directory; it is "here"/,
  ],
  ["a file", { workingDir: "/etc/passwd" }, /workingDir must be a directory/],
  [
    "a wrong word",
    { workingDir, policy: "strict" },
    /policy must be one of "off", "trusting", .*it is "strict"/,
  ],
  ["a wrong type", { workingDir, durable: "yes" }, /durable must be true or false; it is "yes"/],
  ["a wrong number", { workingDir, maxSessions: 0 }, /maxSessions must be a number of at least 1; it is 0/],
  ["no number", { workingDir, capBytes: Number.NaN }, /capBytes must be a number/],
  ["a list that is none", { workingDir, rules: {} }, /rules must be an array; it is an object/],
  [
    "options that contradict each other",
    { workingDir, defaultTimeoutMs: 10, maxTimeoutMs: 5 },
    /defaultTimeoutMs \(10\) is longer than maxTimeoutMs \(5\)/,
  ],
  [
    "an audit log that cannot be",
    { workingDir, auditFile: "/proc/none/audit" },
    /The audit log \/proc\/none\/audit/,
  ],
  ["nothing at all", undefined, /createToolkit needs an object of options/],
])("%s is refused before anything starts, with the fix", async (_what, options, words) => {
  await expect(createToolkit(options as unknown as ToolkitOptions)).rejects.toThrow(words);
});

test("an option that is undefined counts as left out", async () => {
  const kit = await createToolkit({ workingDir, policy: undefined } as unknown as ToolkitOptions);
  await kit.dispose();
});
