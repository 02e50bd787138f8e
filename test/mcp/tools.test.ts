import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { dataOf, ERAS, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

describe.each(ERAS)("a client of the %s era", (era) => {
  test("finds the tools of the shells dialect with titles, hints and one open output schema", async () => {
    const { client } = await mcp.inProcess({ era });
    const { tools } = await client.listTools();
    expect(tools.map(({ name, title, annotations }) => ({ name, title, annotations }))).toEqual([
      {
        name: "Bash",
        title: "Run a command",
        annotations: expect.objectContaining({ destructiveHint: true, openWorldHint: true }),
      },
      {
        name: "BashOutput",
        title: "Read a background shell",
        annotations: expect.objectContaining({ readOnlyHint: true }),
      },
      {
        name: "KillShell",
        title: "End a background shell",
        annotations: expect.objectContaining({ destructiveHint: true }),
      },
    ]);
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(outputSchema).toEqual(tools[0]?.outputSchema);
      expect(outputSchema).toMatchObject({
        type: "object",
        properties: { output: { type: "string" } },
        additionalProperties: true,
      });
    }
  });

  test("gets only results whose keys are all in the output schema", async () => {
    const { client, call } = await mcp.inProcess({ era });
    const { tools } = await client.listTools();
    const declared = Object.keys(tools[0]?.outputSchema?.["properties"] ?? {});
    const started = dataOf(await call("Bash", { command: "sleep 300", run_in_background: true }));
    const id = String(started["bash_id"]);
    const results = [
      started,
      dataOf(await call("Bash", { command: "sleep 300", timeout: 1000, description: "wait" })),
      dataOf(await call("BashOutput", { bash_id: id })),
      dataOf(await call("KillShell", { shell_id: id })),
      dataOf(await call("KillShell", { shell_id: id })),
    ];
    const keys = new Set(results.flatMap((result) => Object.keys(result)));
    expect([...keys].filter((key) => !declared.includes(key))).toEqual([]);
  });

  test("gets the name of the server and five lines of instructions", async () => {
    const { client } = await mcp.inProcess({ era });
    expect(client.getServerVersion()).toMatchObject({ name: "nacre", version: "1.2.3" });
    const lines = client.getInstructions()?.split("\n") ?? [];
    expect(lines).toHaveLength(5);
    expect(lines[0]).toContain("Bash, BashOutput, KillShell");
    expect(lines[1]).toContain("moves to the background");
  });

  test("runs a command in the working directory of the server", async () => {
    const { call, dir } = await mcp.inProcess({ era });
    const result = await call("Bash", { command: "pwd; echo oops >&2" });
    expect(result.isError).toBe(false);
    expect(textOf(result)).toBe(`${dir}\n[stderr]\noops\n`);
    expect(dataOf(result)).toMatchObject({
      output: `${dir}\n[stderr]\noops\n`,
      command: "pwd; echo oops >&2",
      exit_code: 0,
      truncated: false,
      notes: [],
    });
  });

  test("gets the output and the exit code of a failed command", async () => {
    const { call } = await mcp.inProcess({ era });
    const result = await call("Bash", { command: "echo partial; (exit 3)" });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe("Command failed with exit code 3\npartial\n");
    expect(dataOf(result)).toMatchObject({
      output: "partial\n",
      error: "Command failed with exit code 3",
      error_code: "exit_nonzero",
      exit_code: 3,
    });
  });

  test("starts a background shell, waits for a line, reads the new output, and ends it", async () => {
    const mark = new Mark();
    const { call } = await mcp.inProcess({ era });
    const command = `echo listening on 8080; sleep ${mark.next()}`;
    const started = dataOf(await call("Bash", { command, run_in_background: true }));
    const id = String(started["bash_id"]);

    const first = await call("BashOutput", { bash_id: id, wait_for: "listening on \\d+", wait_ms: 20_000 });
    expect(textOf(first)).toBe("Status: running\n\nlistening on 8080\n");
    const second = await call("BashOutput", { bash_id: id });
    expect(textOf(second)).toBe("Status: running\n\n(no new output since last check)");

    const killed = await call("KillShell", { shell_id: id });
    expect(textOf(killed)).toBe(`Shell ${id} terminated`);
    expect(dataOf(killed)).toMatchObject({ status: "killed", survivors: [] });
    expect(mark.processes()).toEqual([]);
  });

  test("gets nacre's own messages about invalid arguments", async () => {
    const { call } = await mcp.inProcess({ era });
    const result = await call("Bash", { command: 5, tiemout: 1 });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("Parameter command must be a string, got 5");
    expect(textOf(result)).toContain('Unknown parameter: "tiemout"');
    expect(dataOf(result)).toMatchObject({ error_code: "invalid_input", output: "" });
    expect(textOf(await call("Bash"))).toContain("command");
    expect(textOf(await call("Bash", { command: "true", timeout: 600_001 }))).toContain(
      "Timeout exceeds maximum: 600000ms",
    );
  });

  test("gets an error for a tool that does not exist, and can continue", async () => {
    const { call } = await mcp.inProcess({ era });
    await expect(call("Dance")).rejects.toThrow("Dance");
    await expect(call("bash")).rejects.toThrow(
      'Unknown tool: "bash". Did you mean Bash? Available tools: Bash, BashOutput, KillShell',
    );
    expect(textOf(await call("Bash", { command: "echo on" }))).toBe("on\n");
  });

  test("finds one tool in the modes dialect, and runs it", async () => {
    const { client, call, dir } = await mcp.inProcess({ era, dialect: "modes" });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["bash"]);
    expect(tools[0]?.description).toContain(`<pwd>${dir}</pwd>`);
    expect(client.getInstructions()?.split("\n")).toHaveLength(5);
    expect(textOf(await call("bash", { command: "echo a; echo b >&2; echo c" }))).toBe("a\nb\nc\n");
    const failed = await call("bash", { command: "echo a; exit 3" });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toBe("[command failed: exit code 3]\na\n");
  });

  test("starts a background process in the modes dialect and reads its file", async () => {
    const { call } = await mcp.inProcess({ era, dialect: "modes" });
    const result = await call("bash", { command: "echo hello; exit 5", mode: "background" });
    const file = String(dataOf(result)["output_file"]);
    expect(textOf(result)).toContain(`<output_file>${file}</output_file>`);
    await eventually(() =>
      expect(readFileSync(file, "utf8")).toMatch(/^hello\n+\[background process failed: exit code 5\]\n$/),
    );
  });
});
