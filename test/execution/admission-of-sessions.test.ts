// Admission judges a command together with the state of its session.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionOptions } from "../../src/execution/execution-options.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { saying } from "../fixtures/judges.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

describe("a function that a session has defined", () => {
  /** Denies every command of a session in which `cd` is a function. */
  const judge: NonNullable<ExecutionOptions["judge"]> = (command, facts) =>
    saying({ verdict: facts.session?.functions.includes("cd") ? "deny" : "allow", rule: "changed-cd" }).judge(
      command,
      facts,
    );
  const kitWith = async () => {
    const base = directory();
    return await createToolkit({ workingDir: base, stateRoot: join(base, "state"), judge });
  };

  test("reaches the policy with the next command, through every API that runs commands", async () => {
    await using kit = await kitWith();
    expect(kit.check("true").verdict).toBe("allow");
    expect(await kit.call("Bash", { command: "cd() { builtin cd /; }" })).toMatchObject({ success: true });
    expect(kit.check("true").verdict).toBe("deny");
    const denied = { code: "policy_denied" };
    expect(await kit.call("Bash", { command: "true" })).toMatchObject(denied);
    expect(await kit.call("Bash", { command: "true" }, { dryRun: true })).toMatchObject(denied);
    expect(await kit.call("Bash", { command: "true", run_in_background: true })).toMatchObject(denied);
    await expect(kit.session().run("true")).rejects.toMatchObject(denied);
    await expect(kit.session().start("true")).rejects.toMatchObject(denied);
    expect(await kit.call("Bash", { command: "true" }, { sessionId: "other" })).toMatchObject({
      success: true,
    });
  });

  test("reaches the policy in the second judgment of a command that was admitted before the definition", async () => {
    await using kit = await kitWith();
    const first = kit.call("Bash", { command: "until [ -e go ]; do sleep 0.02; done; cd() { :; }" });
    const waits: string[] = [];
    const onProgress = ({ message }: { readonly message: string }) => void waits.push(message);
    const second = kit.call("Bash", { command: "touch ran" }, { onProgress });
    await expect.poll(() => waits.join()).toContain("Waiting");
    writeFileSync(join(kit.manager.root.path, "..", "go"), "");
    expect(await first).toMatchObject({ success: true });
    expect(await second).toMatchObject({ code: "policy_denied" });
    expect(existsSync(join(kit.manager.root.path, "..", "ran"))).toBe(false);
  });

  test("no longer affects the verdict after the session has started a new bash", async () => {
    await using kit = await kitWith();
    await kit.session().run("cd() { :; }");
    await kit.session().restart();
    expect(await kit.call("Bash", { command: "true" })).toMatchObject({ success: true });
  });
});

test("the variables of a call reach the policy in the same way as the variables of the session", async () => {
  const homes: unknown[] = [];
  const judge: NonNullable<ExecutionOptions["judge"]> = (command, facts) => {
    homes.push(facts.session?.variables["HOME"]);
    return saying({ verdict: "allow" }).judge(command, facts);
  };
  const { bash, call } = tools({ judge });
  await bash("true", {}, { env: { HOME: "/nowhere", OTHER: "x" } });
  await call("bash", { command: "true" }, { env: { HOME: "/nowhere" } });
  await call("bash", { command: "true" }, { env: { OTHER: "x" } });
  expect(homes).toEqual(["/nowhere", "/nowhere", undefined]);
});
