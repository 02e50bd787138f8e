// Directories whose names are not UTF-8, over MCP: JSON cannot contain their bytes, so nacre shows them in bash's quoting.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { fsPath, textOfBytes } from "../../src/support/path-text.ts";
import { eventually } from "../fixtures/shells.ts";
import { dataOf, ERAS, program, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();
const ODD = textOfBytes(Buffer.from([0x64, 0xff]));
/** Prints the bytes of the working directory as hexadecimal digits. */
const HEX = "pwd -P | tr -d '\\n' | od -An -v -tx1 | tr -d ' \\n'";
const hexOf = (dir: string) => `${Buffer.from(dir).toString("hex")}2f64ff`;

test.each(ERAS)(
  "a session of the %s era works in a directory whose name is not UTF-8, and shows it in results",
  async (era) => {
    const { client, call, dir } = await mcp.inProcess({ era });
    mkdirSync(join(dir, "d\ufffd"));
    const shown = `$'${dir}/d\\xff'`;
    const moved = await call("Bash", { command: "mkdir $'d\\xff' && cd $'d\\xff'" });
    expect(dataOf(moved)).toMatchObject({ exit_code: 0, cwd: shown });
    expect(textOf(await call("Bash", { command: HEX }))).toContain(hexOf(dir));
    await call("Bash", { command: "exit 3" });
    expect(textOf(await call("Bash", { command: HEX }))).toContain(hexOf(dir));
    // The shown path is a word that bash can read.
    expect(dataOf(await call("Bash", { command: `cd / && cd ${shown}` }))).toMatchObject({ exit_code: 0 });
    const started = dataOf(await call("Bash", { command: HEX, run_in_background: true }));
    await eventually(async () => {
      const output = await call("BashOutput", { bash_id: started["bash_id"] });
      expect(textOf(output)).toContain(hexOf(dir));
    });
    const refused = await call("Bash", { command: "rm -rf /nowhere/at-all" });
    expect(dataOf(refused)).toMatchObject({ error_code: "approval_pending", cwd: shown });
    const lost = await call("Bash", { command: "rmdir ../$'d\\xff'" });
    expect(dataOf(lost)).toMatchObject({ exit_code: 0 });
    const gone = await call("Bash", { command: "pwd" });
    expect(textOf(gone)).toContain(`The working directory ${shown} is gone; this command ran in ${dir}.`);
    const everything = JSON.stringify([moved, refused, lost, gone, await client.listTools()]);
    expect(everything).not.toMatch(/\\ud[89a-f]/i);
  },
);

test("a question to a person shows the directory in bash's quoting", async () => {
  const questions: string[] = [];
  const { call, dir } = await mcp.inProcess({
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push(params.message);
        return { action: "decline" };
      }),
  });
  await call("Bash", { command: "mkdir $'d\\xff\\nin safe' && cd $'d\\xff\\nin safe'" });
  await call("Bash", { command: "rm -rf /nowhere/at-all" });
  expect(questions).toEqual([expect.stringContaining(`\nin $'${dir}/d\\xff\\x0ain safe'\n`)]);
});

test.each(["shells", "modes"])(
  "a server of the dialect %s can be started in a directory whose name is not UTF-8",
  async (dialect) => {
    const root = mcp.directory();
    mkdirSync(fsPath(join(root, ODD)));
    mkdirSync(join(root, "d\ufffd"));
    const transport = new StdioClientTransport({
      command: "bash",
      args: [
        ...["--norc", "-c", `cd $'${root}/d\\xff' && exec "$@"`, "bash"],
        ...[process.execPath, program, "mcp", "--dialect", dialect],
      ],
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", NACRE_HOME: join(root, "state") },
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1.0.0" });
    mcp.endWith(() => client.close());
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(JSON.stringify(tools)).not.toMatch(/\\ud[89a-f]/i);
    if (dialect === "modes") expect(tools[0]?.description).toContain(`<pwd>$'${root}/d\\xff'</pwd>`);
    const name = dialect === "modes" ? "bash" : "Bash";
    const result = await client.callTool({ name, arguments: { command: HEX } });
    expect(JSON.stringify(result)).toContain(hexOf(root));
  },
);
