import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { dataOf, ERAS, type OpenOptions, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

function methodsOf(received: readonly unknown[]): unknown[] {
  return received.map((message) => Object(message).method).filter((method) => method !== undefined);
}

describe.each(ERAS)("a client of the %s era", (era) => {
  test("gets the last lines of a running command if it asks for progress", async () => {
    const { client, dir } = await mcp.inProcess({ era });
    const progressMessages: { progress: number; message?: string }[] = [];
    const command = "printf 'line %s\\n' {1..7}; until [ -e go ]; do sleep 0.02; done";
    const running = client.callTool(
      { name: "Bash", arguments: { command } },
      {
        onprogress: ({ progress, message }) =>
          progressMessages.push({ progress, ...(message ? { message } : {}) }),
      },
    );
    await eventually(() => expect(progressMessages.length).toBeGreaterThan(0), 20_000);
    writeFileSync(join(dir, "go"), "");
    expect((await running).isError).toBe(false);
    expect(progressMessages[0]).toEqual({ progress: 1, message: "line 3\nline 4\nline 5\nline 6\nline 7" });
  });

  test("gets no progress messages if it has not asked for them", async () => {
    const { call, transport } = await mcp.inProcess({ era });
    const command = "for i in 1 2 3; do echo $i; sleep 0.3; done";
    expect(textOf(await call("Bash", { command }))).toBe("1\n2\n3\n");
    expect(methodsOf(transport.received)).toEqual([]);
  });

  test("ends a command and everything it started by cancelling the call", async () => {
    const mark = new Mark();
    const { client, call } = await mcp.inProcess({ era });
    const cancelling = new AbortController();
    const command = `sleep ${mark.next()} & setsid sleep ${mark.next()} & wait`;
    const running = client.callTool({ name: "Bash", arguments: { command } }, { signal: cancelling.signal });
    await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2));
    cancelling.abort("no longer needed");
    await expect(running).rejects.toThrow();
    await eventually(() => expect(mark.processes()).toEqual([]));
    expect(textOf(await call("Bash", { command: "echo still here" }))).toBe("still here\n");
  });
});

describe("a command that runs longer than the server lets a call wait", () => {
  /** A command that never ends, and the mark of its processes. */
  const endless = () => {
    const mark = new Mark();
    return { mark, command: `echo begun; sleep ${mark.next()}` };
  };

  test.each([undefined, "kill"] as const)(
    "is killed at a timeout that is shorter than the wait of a call (--on-timeout %s)",
    async (onTimeout) => {
      const { mark, command } = endless();
      const { call } = await mcp.inProcess(onTimeout ? { onTimeout } : {});
      // On a busy machine, the start of the session's bash can take most of the timeout.
      await call("Bash", { command: "true" });
      const result = await call("Bash", { command, timeout: 1_000 });
      expect(result.isError).toBe(true);
      expect(dataOf(result)).toMatchObject({ error_code: "timed_out", timeout_ms: 1_000 });
      expect(textOf(result)).toMatch(
        /^Command timed out after 1000ms\nbegun\nWhen its time was over: sleep \S+ \(pid \d+\) waits for a timer .*\nThe session's bash ended /,
      );
      expect(mark.processes()).toEqual([]);
    },
  );

  test.each([undefined, "kill"] as const)(
    "continues in the background and is killed at a longer timeout (--on-timeout %s)",
    async (onTimeout) => {
      const { mark, command } = endless();
      const stateRoot = mcp.directory();
      const { call } = await mcp.inProcess({
        stateRoot,
        returnAfterMs: 300,
        ...(onTimeout ? { onTimeout } : {}),
      });
      const result = await call("Bash", { command, timeout: 2_500 });
      expect(result.isError).toBe(false);
      const id = String(dataOf(result)["bash_id"]);
      expect(dataOf(result)).toMatchObject({ timeout_ms: 2_500 });
      expect(textOf(result)).toContain(`still running after 300ms and continues as background shell: ${id}`);
      expect(textOf(result)).toContain("It is killed with everything it started 2500ms after its start.");
      // The deadline on disk counts from the start of the bash. Both clocks are rounded to milliseconds.
      const { deadlineMs } = JSON.parse(readFileSync(join(stateRoot, "shells", id, "meta"), "utf8"));
      expect(deadlineMs).toBeGreaterThanOrEqual(2_490);
      const ended = await call("BashOutput", { bash_id: id, wait_for: "exit", wait_ms: 20_000 });
      expect(textOf(ended)).toMatch(/^Status: timeout\b/);
      expect(mark.processes()).toEqual([]);
      expect(textOf(await call("Bash", { command: "echo after" }))).toContain("after");
    },
  );

  test("continues in the background without a deadline if it has no timeout", async () => {
    const { mark, command } = endless();
    const stateRoot = mcp.directory();
    const { call } = await mcp.inProcess({ stateRoot, returnAfterMs: 300 });
    const result = await call("Bash", { command });
    const id = String(dataOf(result)["bash_id"]);
    expect(textOf(result)).toContain(`continues as background shell: ${id}`);
    expect(textOf(result)).not.toContain("is killed with everything");
    expect(JSON.parse(readFileSync(join(stateRoot, "shells", id, "meta"), "utf8")).deadlineMs).toBeNull();
    expect(textOf(await call("BashOutput", { bash_id: id }))).toBe("Status: running\n\nbegun\n");
    await call("KillShell", { shell_id: id });
    expect(mark.processes()).toEqual([]);
  });

  test("has a deadline of 120 seconds if it has no timeout (--on-timeout kill)", async () => {
    const { command } = endless();
    const { call, client } = await mcp.inProcess({ onTimeout: "kill", returnAfterMs: 300 });
    const result = await call("Bash", { command });
    expect(dataOf(result)).toMatchObject({ timeout_ms: 120_000, bash_id: expect.stringMatching(/^shell_/) });
    expect(textOf(result)).toContain("It is killed with everything it started 120000ms after its start.");
    expect(client.getInstructions()).toContain("timeout expires is killed");
  });

  test.each([1_000, 5_000])(
    "is not killed at a timeout of %d ms (--on-timeout background)",
    async (timeout) => {
      const { mark, command } = endless();
      const { call } = await mcp.inProcess({ onTimeout: "background", returnAfterMs: 2_000 });
      const result = await call("Bash", { command, timeout });
      const id = String(dataOf(result)["bash_id"]);
      expect(textOf(result)).toContain(
        `after ${Math.min(timeout, 2_000)}ms and continues as background shell: ${id}`,
      );
      expect(textOf(result)).not.toContain("is killed with everything");
      expect(textOf(await call("BashOutput", { bash_id: id }))).toBe("Status: running\n\nbegun\n");
      await call("KillShell", { shell_id: id });
      expect(mark.processes()).toEqual([]);
    },
  );

  test("is explained in the tool description, with the limits of this server", async () => {
    const descriptionOf = async (options: OpenOptions) => {
      const { client } = await mcp.inProcess(options);
      return (await client.listTools()).tools[0]?.description;
    };
    const returns = "A call returns after at most 50000 ms";
    const byDefault = await descriptionOf({});
    expect(byDefault).toContain("Timeout: none unless you set timeout");
    expect(byDefault).toContain(returns);
    expect(byDefault).toContain("everything it started is killed");
    const killing = await descriptionOf({ onTimeout: "kill" });
    expect(killing).toContain("Timeout: 120000 ms");
    expect(killing).toContain(returns);
    const inBackground = await descriptionOf({ onTimeout: "background" });
    expect(inBackground).toContain("Timeout: 50000 ms");
    expect(inBackground).toContain("continues in the background");
    expect(inBackground).not.toContain("everything it started is killed");
  });
});

test("connections do not see each other's shells unless they share a scope", async () => {
  const stateRoot = mcp.directory();
  const first = await mcp.inProcess({ stateRoot });
  const second = await mcp.inProcess({ stateRoot });
  const id = dataOf(await first.call("Bash", { command: "echo mine", run_in_background: true }))["bash_id"];
  const read = { bash_id: id, wait_for: "exit" };
  expect(textOf(await second.call("BashOutput", read))).toContain(`Shell not found: ${id}`);
  expect(textOf(await first.call("BashOutput", read))).toContain("mine");

  const shared = await mcp.inProcess({ stateRoot, scope: "team" });
  const friend = await mcp.inProcess({ stateRoot, scope: "team" });
  const ours = dataOf(await shared.call("Bash", { command: "echo ours", run_in_background: true }))[
    "bash_id"
  ];
  expect(textOf(await friend.call("BashOutput", { bash_id: ours, wait_for: "exit" }))).toContain("ours");
});
