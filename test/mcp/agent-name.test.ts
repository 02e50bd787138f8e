// A shell stores the name of the MCP client that started it, as its agent.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { SHELL_LABEL_MAX_CHARS } from "../../src/support/limits.ts";
import { dataOf, ERAS, type OpenOptions, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

async function agentOf(options: OpenOptions): Promise<string | undefined> {
  const stateRoot = join(mcp.directory(), "state");
  const { call } = await mcp.inProcess({ stateRoot, ...options });
  const started = await call("Bash", { command: "sleep 300", run_in_background: true });
  const { bash_id: id } = dataOf(started);
  await using manager = new ShellManager({ stateRoot, poolSize: 0 });
  return manager.findAll().find((shell) => shell.id === id)?.started.meta.agent;
}

describe.each(ERAS)("a client of the %s era", (era) => {
  test("is the agent of its shells", async () => {
    expect(await agentOf({ era, clientName: "claude-code" })).toBe("claude-code");
  });

  test("has its name stored on one line, without control characters", async () => {
    expect(await agentOf({ era, clientName: "  good\n\t\u001b[31m\u202eevil\0 " })).toBe(
      "good \\u{1b}[31m\\u{202e}evil\\u{0}",
    );
  });

  test("has its name truncated if it is long", async () => {
    const name = await agentOf({ era, clientName: "\u{1f600}x".repeat(100_000) });
    expect(name?.length).toBeGreaterThan(SHELL_LABEL_MAX_CHARS - 10);
    expect(name?.length).toBeLessThanOrEqual(SHELL_LABEL_MAX_CHARS);
    expect(name?.isWellFormed()).toBe(true);
  });

  test("has shells without an agent if its name is blank", async () => {
    expect(await agentOf({ era, clientName: " \n" })).toBeUndefined();
  });
});
