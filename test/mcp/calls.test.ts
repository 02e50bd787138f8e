import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { dataOf, ERAS, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

function methodsOf(received: readonly unknown[]): unknown[] {
  return received.map((message) => Object(message).method).filter((method) => method !== undefined);
}

describe.each(ERAS)("a client of the %s era", (era) => {
  test("hears the last lines while a command runs if it asks for progress", async () => {
    const { client, dir } = await mcp.inProcess({ era });
    const heard: { progress: number; message?: string }[] = [];
    const command = "printf 'line %s\\n' {1..7}; until [ -e go ]; do sleep 0.02; done";
    const running = client.callTool(
      { name: "Bash", arguments: { command } },
      { onprogress: ({ progress, message }) => heard.push({ progress, ...(message ? { message } : {}) }) },
    );
    await eventually(() => expect(heard.length).toBeGreaterThan(0), 20_000);
    writeFileSync(join(dir, "go"), "");
    expect((await running).isError).toBe(false);
    expect(heard[0]).toEqual({ progress: 1, message: "line 3\nline 4\nline 5\nline 6\nline 7" });
  });

  test("is not told of progress it has not asked for", async () => {
    const { call, transport } = await mcp.inProcess({ era });
    const command = "for i in 1 2 3; do echo $i; sleep 0.3; done";
    expect(textOf(await call("Bash", { command }))).toBe("1\n2\n3\n");
    expect(methodsOf(transport.received)).toEqual([]);
  });

  test("ends a command with everything it started by cancelling the call", async () => {
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

test("a command whose time is over goes on in the background and can be read and ended", async () => {
  const mark = new Mark();
  const { call } = await mcp.inProcess({});
  const command = `echo begun; sleep ${mark.next()}`;
  const result = await call("Bash", { command, timeout: 1_000 });
  expect(result.isError).toBe(false);
  const id = String(dataOf(result)["bash_id"]);
  expect(textOf(result)).toContain(`goes on as background shell: ${id}`);
  expect(textOf(await call("BashOutput", { bash_id: id }))).toBe("Status: running\n\nbegun\n");
  await call("KillShell", { shell_id: id });
  expect(mark.processes()).toEqual([]);
});

test("with on-timeout kill a command whose time is over is ended", async () => {
  const mark = new Mark();
  const { client, call } = await mcp.inProcess({ onTimeout: "kill" });
  const result = await call("Bash", { command: `echo begun; sleep ${mark.next()}`, timeout: 1_000 });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/^Command timed out after 1000ms\nbegun\nThe session's bash ended /);
  expect(mark.processes()).toEqual([]);
  expect(client.getInstructions()).toContain("timeout is over is ended");
});

test("the description names the time after which a command goes to the background", async () => {
  const descriptionOf = async (onTimeout: "kill" | "background") => {
    const { client } = await mcp.inProcess({ onTimeout });
    return (await client.listTools()).tools[0]?.description;
  };
  expect(await descriptionOf("background")).toContain("Timeout: 50000 ms");
  expect(await descriptionOf("kill")).toContain("Timeout: 120000 ms");
});

test("connections do not see each other's shells unless they share a scope", async () => {
  const stateRoot = mcp.directory();
  const one = await mcp.inProcess({ stateRoot });
  const other = await mcp.inProcess({ stateRoot });
  const id = dataOf(await one.call("Bash", { command: "echo mine", run_in_background: true }))["bash_id"];
  const read = { bash_id: id, wait_for: "exit" };
  expect(textOf(await other.call("BashOutput", read))).toContain(`Shell not found: ${id}`);
  expect(textOf(await one.call("BashOutput", read))).toContain("mine");

  const shared = await mcp.inProcess({ stateRoot, scope: "team" });
  const friend = await mcp.inProcess({ stateRoot, scope: "team" });
  const ours = dataOf(await shared.call("Bash", { command: "echo ours", run_in_background: true }))[
    "bash_id"
  ];
  expect(textOf(await friend.call("BashOutput", { bash_id: ours, wait_for: "exit" }))).toContain("ours");
});
