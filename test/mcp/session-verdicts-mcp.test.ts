// Changes that an earlier call made in the session of an MCP server affect the verdict of the next call.
import { expect, test } from "vitest";
import { dataOf, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

test.each([
  ["a function cd", "cd() { builtin cd /nonexistent; }", "cd build && rm -rf *"],
  ["an alias", "shopt -s expand_aliases; alias tidy='rm -rf'", "tidy *"],
])("%s of an earlier call changes the verdict of the next one over stdio", async (_what, change, command) => {
  const { call } = await mcp.overStdio([]);
  // Nothing is redefined yet, so the command is allowed. It fails harmlessly: its directory or program does not exist.
  const before = await call("Bash", { command });
  expect(dataOf(before)).toMatchObject({ exit_code: expect.any(Number) });
  expect((await call("Bash", { command: change })).isError).toBe(false);
  const after = await call("Bash", { command });
  expect(textOf(after)).toContain("Command needs approval");
});
