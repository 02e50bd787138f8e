import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NacreError } from "../../src/support/errors.ts";
import { createToolkit, type ToolkitOptions } from "../../src/toolkit.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";

const workingDir = tmpdir();
const stateRoot = mkdtempSync(join(workingDir, "nacre-check-options-"));
removeAfterRun(stateRoot);

test.each([
  [
    "an unknown option",
    { workingDir, dialekt: "modes" },
    "createToolkit has no option dialekt. Did you mean dialect?",
  ],
  [
    "an unknown option without a similar name",
    { workingDir, zzz: 1 },
    /createToolkit has no option zzz. Choose from: workingDir, /,
  ],
  [
    "a relative working directory",
    { workingDir: "here" },
    /workingDir must be an absolute path of a directory; it is "here"/,
  ],
  ["a file as the working directory", { workingDir: "/etc/passwd" }, /workingDir must be a directory/],
  [
    "a missing working directory",
    { workingDir: "/nowhere/at/all" },
    'The option workingDir must be a directory that exists; it is "/nowhere/at/all".',
  ],
  [
    "an unknown choice",
    { workingDir, policy: "strict" },
    /policy must be one of "off", "trusting", .*it is "strict"/,
  ],
  ["a wrong type", { workingDir, durable: "yes" }, /durable must be true or false; it is "yes"/],
  [
    "a wrong number",
    { workingDir, maxSessions: 0 },
    /maxSessions must be a whole number of at least 1; it is 0/,
  ],
  [
    "a value that is not a number",
    { workingDir, capBytes: Number.NaN },
    /capBytes must be a whole number of at least 1; it is NaN/,
  ],
  [
    "an object instead of a list",
    { workingDir, rules: {} },
    /rules must be an array of rules; it is an object/,
  ],
  [
    "options that contradict each other",
    { workingDir, defaultTimeoutMs: 10, maxTimeoutMs: 5 },
    /defaultTimeoutMs \(10\) is longer than maxTimeoutMs \(5\)/,
  ],
  [
    "a time above the default maximum",
    { workingDir, defaultTimeoutMs: 700_000 },
    /defaultTimeoutMs \(700000\) is longer than maxTimeoutMs \(600000\): raise maxTimeoutMs/,
  ],
  [
    "a working directory outside the allowed directories",
    { workingDir, allowedRoots: ["/usr"] },
    /workingDir \(.+\) is not inside allowedRoots \(\/usr\): .+ Add it to allowedRoots/,
  ],
  [
    "no network without a sandbox",
    { workingDir, network: "none" },
    'The option network "none" has no effect without a sandbox: set sandbox (--sandbox) to "read-only" or "workspace-write", or remove the option.',
  ],
  [
    "hidden paths without a sandbox",
    { workingDir, sandbox: "off", hide: [".env"] },
    /The option hide has no effect without a sandbox: set sandbox/,
  ],
  [
    "a sandbox that would protect nothing",
    { workingDir, stateRoot, sandbox: "workspace-write", workspace: "/" },
    /The workspace is \/, so "workspace-write" would protect nothing\. Start in/,
  ],
  [
    "an unknown environment option",
    { workingDir, environment: { inclued: ["A"] } },
    "createToolkit has no option environment.inclued. Did you mean environment.include?",
  ],
  [
    "an environment variable of the wrong type",
    { workingDir, environment: { set: { A: 1 } } },
    "The option environment.set.A must be a string; it is 1.",
  ],
  [
    "an unknown environment mode",
    { workingDir, environment: { mode: "strict" } },
    /environment\.mode must be one of "safe", "all", "core", "none"; it is "strict"/,
  ],
  [
    "a list with an element of the wrong type",
    { workingDir, hide: [".env", 3] },
    /hide must be an array of paths; it is \[".env", 3\]/,
  ],
  [
    "a hook that is not a function",
    { workingDir, hooks: [{ before: "x" }] },
    /hooks must be an array of objects with before, after or both/,
  ],
  ["an invalid rule", { workingDir, rules: [{ id: "x" }] }, /rule/],
  [
    "an audit log that cannot be created",
    { workingDir, auditFile: "/proc/none/audit" },
    /The audit log \/proc\/none\/audit/,
  ],
  ["null instead of options", null, "createToolkit needs an object of options; it got null."],
])("%s is refused before anything starts, with the fix", async (_what, options, words) => {
  await expect(createToolkit(options as unknown as ToolkitOptions)).rejects.toThrow(words);
});

test("every option of the wrong type is refused with its name and its valid values", async () => {
  const wrong = [Symbol("x"), null, Number.NaN, -1, 1.5, "", "a\0b", { odd: true }, [null]];
  for (const name of await optionNames()) {
    const refusals = await Promise.all(wrong.map((value) => refusalOf({ workingDir, [name]: value })));
    // Each of these values is invalid for every option.
    expect([name, refusals.filter((words) => words === undefined)]).toEqual([name, []]);
    for (const words of refusals) expect(words).toContain(name);
    expect(refusals[0]).toMatch(new RegExp(`^The option ${name} must be .+; it is Symbol\\(x\\)\\.$`));
  }
});

/** Returns the option names that are listed in the error about an unknown option. */
async function optionNames(): Promise<string[]> {
  const [, list = ""] = /Choose from: (.+)\.$/.exec((await refusalOf({ workingDir, zzz: 1 })) ?? "") ?? [];
  const names = list.split(", ");
  expect(names.length).toBeGreaterThan(40);
  return names;
}

async function refusalOf(options: unknown): Promise<string | undefined> {
  try {
    const kit = await createToolkit(options as ToolkitOptions);
    await kit.dispose();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(NacreError);
    return (error as Error).message;
  }
}

test("an option that is undefined counts as omitted", async () => {
  const kit = await createToolkit({ workingDir, stateRoot, policy: undefined } as unknown as ToolkitOptions);
  await kit.dispose();
});
