import { expect, test } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

test("--version prints a version", async () => {
  expect(await nacre("--version")).toMatchObject({ code: 0, stdout: "0.2.0\n" });
});

test("--help lists the commands", async () => {
  const { code, stdout } = await nacre("--help");
  expect(code).toBe(0);
  for (const name of ["run", "ps", "output", "kill", "check", "tools", "mcp"]) {
    expect(stdout).toMatch(new RegExp(`^ +${name} `, "m"));
  }
});

test.each([
  [["dance"], "dance"],
  [["run"], "command"],
  [["run", ""], "blank"],
  [["run", " \n"], "blank"],
  [["run", "--json", " "], "blank"],
  [["help", "rnu"], "Did you mean run?"],
  [["run", "--timeout", "soon", "true"], "milliseconds"],
  [["run", "--timeout", "0", "true"], "milliseconds"],
  [["run", "--env", "NOVALUE", "true"], "NAME=value"],
  [["run", "--policy", "none", "true"], "off, trusting, standard, cautious"],
  [["tools", "--format", "xml"], "anthropic"],
  [["mcp", "--dialect", "latin"], "shells, modes"],
  [["check"], "command"],
  [["kill"], "id"],
])("a usage error exits with code 2 and a message on stderr: %j", async (words, message) => {
  const { code, stdout, stderr } = await nacre(...words);
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain(message);
});

test("nacre tools prints the schemas of the given dialect in the given format", async () => {
  const mcp = JSON.parse((await nacre("tools")).stdout);
  expect(mcp.map(({ name }: { name: string }) => name)).toEqual(["Bash", "BashOutput", "KillShell"]);
  expect(mcp[0]).toHaveProperty("inputSchema.properties.command");
  const openai = JSON.parse((await nacre("tools", "--format", "openai", "--dialect", "modes")).stdout);
  expect(JSON.stringify(openai)).toContain(`<pwd>${dir()}</pwd>`);
  expect(openai).toHaveLength(1);
  for (const format of ["anthropic", "gemini", "openai-strict"]) {
    expect(JSON.parse((await nacre("tools", "--format", format)).stdout)).not.toEqual(mcp);
  }
});
