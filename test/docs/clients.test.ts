// The client configurations in README.md: each parses, and its server starts and lists its tools. npx finds the program
// in the project's node_modules and fetches nothing.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { serverOf } from "../../scripts/server-of.mjs";
import { useCli } from "../cli/run-nacre.ts";
import { program } from "../mcp/mcp-clients.ts";
import { blocks } from "./pages.ts";

const { dir } = useCli();
const shown = blocks.filter(({ lines }) => serverOf(lines.join("\n")) !== undefined);

test("README.md has a configuration in every format that clients use", () => {
  const formats = shown.filter(({ file }) => file === "README.md").map(({ language }) => language);
  expect(formats).toEqual(["text", "toml", "json", "json", "json"]);
});

const servers = new Map(
  shown.map(({ lines }) => serverOf(lines.join("\n"))).map((one) => [JSON.stringify(one), one]),
);

test.each([...servers])("the server %s starts and lists its tools", async (_title, server) => {
  const { command = "", args = [] } = server ?? {};
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, cwd: project(), env: withoutNetwork() }));
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["Bash", "BashOutput", "KillShell"]);
  } finally {
    await client.close();
  }
});

/** A project with the package installed. */
function project(): string {
  const bin = join(dir(), "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(program, join(bin, "nacre"));
  writeFileSync(join(dir(), "package.json"), JSON.stringify({ name: "project", private: true }));
  return dir();
}

function withoutNetwork(): Record<string, string> {
  const npm = {
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
    npm_config_cache: join(dir(), "cache"),
  };
  return { PATH: process.env["PATH"] ?? "", HOME: dir(), NACRE_HOME: join(dir(), "state"), ...npm };
}
