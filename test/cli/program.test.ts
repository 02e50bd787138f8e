// The built program: tests that need a separate process.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";

const { dir } = useCli();

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"] ?? "/usr/bin:/bin", NACRE_HOME: join(dir(), "state") };
}

function nacre(...words: string[]) {
  return nacreIn({}, ...words);
}

function nacreIn(env: NodeJS.ProcessEnv, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: dir(),
    env: { ...environment(), ...env },
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

test("later processes list, read and kill a shell that run -b started", async () => {
  const mark = new Mark();
  const id = nacre("run", "-b", `echo hi; sleep ${mark.next()}`).stdout.trim();
  await eventually(() => expect(nacre("output", id, "--all").stdout).toBe("hi\n"));
  expect(JSON.parse(nacre("ps", "--json").stdout).shells).toMatchObject([{ id, status: "running" }]);
  expect(nacre("kill", id)).toMatchObject({ code: 0, stdout: `Shell ${id} terminated\n` });
  expect(mark.processes()).toEqual([]);
  expect(JSON.parse(nacre("ps", "--json").stdout).shells).toMatchObject([{ id, status: "killed" }]);
});

test.each([[], ["--session", "work"]])(
  "a reader that closes the pipe early ends the command, without a stack trace: %j",
  async (...words) => {
    const mark = new Mark();
    const child = spawn(process.execPath, [program, "run", ...words, `yes & sleep ${mark.next()}`], {
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
  },
);

test.each([[], ["--session", "work"]])(
  "SIGTERM ends the command with everything it started, and nacre reports the signal: %j",
  async (...words) => {
    const mark = new Mark();
    const child = spawn(process.execPath, [program, "run", ...words, `echo ready; sleep ${mark.next()}`], {
      cwd: dir(),
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stderr = textOf(child.stderr);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect({ code, stderr: await stderr }).toEqual({
      code: 143,
      stderr: "nacre: ended by SIGTERM, with everything it started\n",
    });
    expect(mark.processes()).toEqual([]);
  },
);

test("output piped to head ends without an error message", () => {
  const id = nacre("run", "-b", "yes | head -c 3000000").stdout.trim();
  expect(nacre("wait", id).code).toBe(0);
  const line = `'${process.execPath}' '${program}' output ${id} --all | head -1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", line], {
    env: environment(),
    encoding: "utf8",
  });
  expect({ stdout, stderr }).toEqual({ stdout: "y\n141\n", stderr: "" });
});

test("output that cannot be written to a full disk is reported as a failure", () => {
  for (const words of ["run 'echo hi'", "run --json 'echo hi'", "ps --json", "tools", "--help"]) {
    const line = `'${process.execPath}' '${program}' ${words} >/dev/full`;
    const { status, stderr } = spawnSync("bash", ["--norc", "-c", line], {
      env: environment(),
      encoding: "utf8",
    });
    expect({ words, status, stderr }).toEqual({
      words,
      status: 1,
      stderr: expect.stringMatching(/^nacre: The output could not be written: ENOSPC: .+\n$/),
    });
  }
});

test("in a removed directory, run is refused, and commands that need no directory work", () => {
  const gone = join(dir(), "gone");
  const inGone = (words: string) => {
    const line = `mkdir '${gone}'; cd '${gone}'; rmdir '${gone}'; exec '${process.execPath}' '${program}' ${words}`;
    const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", line], {
      env: environment(),
      encoding: "utf8",
    });
    return { code: status, stdout, stderr };
  };
  expect(inGone("run pwd")).toEqual({
    code: 1,
    stdout: "",
    stderr: `nacre: Working directory does not exist: ${gone} (deleted)\n`,
  });
  expect(inGone("run --cwd / pwd")).toEqual({ code: 0, stdout: "/\n", stderr: "" });
  expect(inGone("ps --json")).toMatchObject({ code: 0, stderr: "" });
});

test("without HOME, the state directory is below XDG_STATE_HOME", () => {
  const env = { NACRE_HOME: undefined, XDG_STATE_HOME: join(dir(), "xdg") };
  expect(nacreIn(env, "run", "echo hi")).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
  expect(existsSync(join(dir(), "xdg/nacre/shells"))).toBe(true);
});

test("without a home directory, the error names NACRE_HOME", () => {
  for (const words of [["run", "true"], ["ps"]]) {
    const { code, stderr } = nacreIn({ NACRE_HOME: undefined, HOME: "" }, ...words);
    expect({ words, code }).toEqual({ words, code: 1 });
    expect(stderr).toMatch(/^nacre: .*NACRE_HOME.*\n$/);
  }
});

test("the error of every command names an unusable state directory", () => {
  writeFileSync(join(dir(), "file"), "");
  for (const unusable of [join(dir(), "file"), "/proc/nacre"]) {
    for (const words of [
      ["run", "true"],
      ["run", "-b", "true"],
      ["run", "--json", "true"],
    ]) {
      const { code, stdout, stderr } = nacreIn({ NACRE_HOME: unusable }, ...words);
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(`The state directory ${unusable} cannot be used`);
      expect(stderr.split("\n").length).toBeLessThanOrEqual(2);
    }
  }
  const { code, stderr } = nacreIn({ NACRE_HOME: join(dir(), "file") }, "ps");
  expect(code).toBe(1);
  expect(stderr).toMatch(/^nacre: The state directory .*file cannot be read: .*NACRE_HOME.*\n$/);
});

test("filtered lines are printed byte for byte, with --all, --raw and --follow", () => {
  const printed = "printf 'caf\\xe9 one\\r\\n\\xff two\\ncaf\\xe9 \\xe6\\x97'";
  const id = nacre("run", "-b", printed).stdout.trim();
  expect(nacre("wait", id).code).toBe(0);
  for (const form of ["--all", "--raw", "--follow"]) {
    const { stdout } = spawnSync(process.execPath, [program, "output", id, form, "--filter", "^caf"], {
      cwd: dir(),
      env: environment(),
    });
    expect({ form, stdout: stdout.toString("latin1") }).toEqual({
      form,
      stdout: "caf\xe9 one\r\ncaf\xe9 \xe6\x97",
    });
  }
});

test("nacre processes that run at the same time do not disturb each other", async () => {
  const run = (text: string) => {
    const child = spawn(process.execPath, [program, "run", `echo ${text}; sleep 0.1; echo ${text}`], {
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    return Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, "exit")]);
  };
  const texts = ["one", "two", "three"];
  const results = await Promise.all(texts.map(run));
  expect(results.map(([stdout, stderr, [code]]) => ({ stdout, stderr, code }))).toEqual(
    texts.map((text) => ({ stdout: `${text}\n${text}\n`, stderr: "", code: 0 })),
  );
});

test("a shell of an MCP server is listed, read and killed, and the server reports it", async () => {
  const mark = new Mark();
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp"],
    env: environment() as Record<string, string>,
    cwd: dir(),
  });
  await client.connect(transport);
  try {
    const command = `echo from the agent; sleep ${mark.next()}`;
    const started = await client.callTool({ name: "Bash", arguments: { command, run_in_background: true } });
    const { bash_id: id } = started.structuredContent as { bash_id: string };
    expect(JSON.parse(nacre("ps", "--json").stdout).shells).toContainEqual(
      expect.objectContaining({ id, command, status: "running" }),
    );
    expect(nacre("wait", id, "--for", "agent").stdout).toBe("from the agent\n");
    expect(nacre("output", id).stdout).toBe("from the agent\n");
    expect(nacre("kill", id)).toMatchObject({ code: 0, stdout: `Shell ${id} terminated\n` });
    expect(mark.processes()).toEqual([]);
    const seen = await client.callTool({ name: "BashOutput", arguments: { bash_id: id } });
    expect(seen.structuredContent).toMatchObject({ status: "killed", is_running: false });
    expect(JSON.stringify(seen.content)).toContain("from the agent");
  } finally {
    await client.close();
  }
});

test("a long output streams through in constant memory", async () => {
  // The output is at least twice as large as the memory limit that the test asserts below.
  const mib = isLong ? 1024 : 320;
  const child = spawn(process.execPath, [program, "run", `head -c ${mib}M /dev/zero`], {
    env: environment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let bytes = 0;
  let peakKib = 0;
  for await (const chunk of child.stdout) {
    bytes += chunk.length;
    peakKib = peakMemoryKib(child.pid) ?? peakKib;
  }
  expect(bytes).toBe(mib * 1024 ** 2);
  expect(peakKib).toBeGreaterThan(0);
  expect(peakKib).toBeLessThan(160 * 1024);
});

function peakMemoryKib(pid: number | undefined): number | undefined {
  try {
    const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kib === undefined ? undefined : Number(kib);
  } catch {
    return undefined;
  }
}
