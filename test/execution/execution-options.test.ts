import { homedir } from "node:os";
import { expect, test } from "vitest";
import { resolveExecutionOptions } from "../../src/execution/execution-options.ts";
import { judge } from "../../src/policy/judge.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager } = useShells();

test("without options, every value has its default", async () => {
  const resolved = resolveExecutionOptions();
  const facts = { cwd: "/work", home: "/home/dev", workspace: "/work" };
  const judging = await resolved.loadJudging();
  expect(judging.judge("rm -rf /", facts)).toEqual(judge("rm -rf /", facts));
  expect(resolved).toMatchObject({
    defaultTimeoutMs: 120_000,
    maxTimeoutMs: 600_000,
    maxOutputChars: 30_000,
    onTimeout: "kill",
    rawOutput: false,
    redact: true,
    policy: "standard",
  });
});

test("the options of a host override the defaults", () => {
  const own = manager();
  const given = {
    defaultTimeoutMs: 1,
    maxTimeoutMs: 2,
    maxOutputChars: 3,
    onTimeout: "background",
    rawOutput: true,
    redact: false,
    policy: "cautious",
  } as const;
  const resolved = resolveExecutionOptions({ ...given, manager: own });
  expect(resolved).toMatchObject(given);
  expect(resolved.manager()).toBe(own);
});

test("the policy gets the directory in which the command would run", async () => {
  const { facts } = await resolveExecutionOptions({ policy: "trusting" }).loadJudging();
  expect(facts("/some/where")).toMatchObject({
    home: homedir(),
    cwd: "/some/where",
    isRoot: process.getuid?.() === 0,
    profile: "trusting",
  });
});
