// The built program: what only a process of its own can show.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";

const { dir } = useCli();

function environment() {
  return { PATH: process.env["PATH"] ?? "/usr/bin:/bin", NACRE_HOME: join(dir(), "state") };
}

function nacre(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: dir(),
    env: environment(),
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

test("run passes output and exit code through", () => {
  expect(nacre("run", "pwd; echo oops >&2; exit 3")).toEqual({
    code: 3,
    stdout: `${dir()}\n`,
    stderr: "oops\n",
  });
});

test("a shell started with run -b is seen, read and killed by later programs", async () => {
  const mark = new Mark();
  const id = nacre("run", "-b", `echo hi; sleep ${mark.next()}`).stdout.trim();
  await eventually(() => expect(nacre("output", id, "--all").stdout).toBe("hi\n"));
  expect(JSON.parse(nacre("ps", "--json").stdout).shells).toMatchObject([{ id, status: "running" }]);
  expect(nacre("kill", id)).toMatchObject({ code: 0, stdout: `Shell ${id} terminated\n` });
  expect(mark.processes()).toEqual([]);
  expect(JSON.parse(nacre("ps", "--json").stdout).shells).toMatchObject([{ id, status: "killed" }]);
});

test("a reader that leaves early ends the command, without a stack trace", async () => {
  const mark = new Mark();
  const child = spawn(process.execPath, [program, "run", `yes & sleep ${mark.next()}`], {
    cwd: dir(),
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  await once(child.stdout, "data");
  child.stdout.destroy();
  const [code] = await once(child, "exit");
  expect({ code, stderr }).toEqual({ code: 141, stderr: "" });
  expect(mark.processes()).toEqual([]);
});
