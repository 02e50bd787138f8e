// The link contract with a command link on this machine, and tests that kill or stop one end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createToolkit } from "../../src/toolkit.ts";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { isLong } from "../fixtures/long.ts";
import { isAlive } from "../fixtures/processes.ts";
import { remoteContract } from "./contract.ts";
import { type RemotePlace, usePlaces } from "./remote-place.ts";

const program = join(root, "dist/cli/main.js");
const newPlace = usePlaces(useLeakProof());

remoteContract("a command link", {
  place: () => {
    const place = newPlace();
    return {
      url: place.url,
      cut: () => {
        for (const pid of place.links()) process.kill(pid, "SIGKILL");
      },
      otherCuts: {
        stop: () => {
          for (const pid of place.links()) process.kill(pid, "SIGSTOP");
        },
      },
    };
  },
  outputBytes: isLong ? 1024 ** 3 : 8 * 1024 ** 2,
  cutCount: isLong ? 50 : 5,
});

describe("a killed or stopped end", () => {
  test("the link of a stopped client program counts as lost after silentMaxMs, and the call continues", async () => {
    const place = newPlace();
    const remote = { url: place.url, pingMs: 100, silentMaxMs: 500, lingerMs: 30_000 };
    await using kit = await createToolkit({ remote });
    const run = kit.run(`echo began; while [ ! -e go ]; do sleep 0.05; done; echo went`);
    await eventually(() => expect(place.links()).toHaveLength(1));
    const [link = 0] = place.links();
    process.kill(link, "SIGSTOP");
    await eventually(() => expect(isAlive(link)).toBe(false));
    writeFileSync(join(place.work, "go"), "");
    expect((await run).stdout).toBe("began\nwent\n");
  });

  test("a killed daemon is reported as remote_lost, and a durable shell stays available", async () => {
    const place = newPlace();
    await using kit = await createToolkit({ remote: { url: place.url, retryMaxMs: 200 }, durable: true });
    const { metadata } = await kit.call("Bash", { command: "echo up; sleep 1000", run_in_background: true });
    const call = kit.call("Bash", { command: "touch began; sleep 1000" });
    await eventually(() => readFileSync(join(place.work, "began")));
    const [daemon = 0] = place.daemons();
    process.kill(daemon, "SIGKILL");
    const lost = await call;
    expect([lost.success, lost.code]).toEqual([false, "remote_lost"]);
    expect(lost.error).toMatch(/restarted/);
    const bash_id = String(metadata.bash_id);
    const output = await kit.call("BashOutput", { bash_id });
    expect(output.toWire()).toMatchObject({ status: "running", output: expect.stringContaining("up") });
    expect((await kit.call("KillShell", { shell_id: bash_id })).success).toBe(true);
  });

  test("shells of a killed client end after the linger", async () => {
    const place = newPlace();
    const script = `
      import { createToolkit } from ${JSON.stringify(join(root, "dist/index.js"))};
      const kit = await createToolkit({ remote: { url: ${JSON.stringify(place.url)}, lingerMs: 300 } });
      await kit.call("Bash", { command: "echo $$ >pid; exec sleep 1000", run_in_background: true });
      setInterval(() => {}, 1000);`;
    const host = spawn(process.execPath, ["--input-type=module", "-e", script], {
      env: place.env,
      stdio: "ignore",
    });
    const pid = await eventually(() => {
      const found = Number(readFileSync(join(place.work, "pid"), "utf8"));
      expect(found).toBeGreaterThan(0);
      return found;
    });
    host.kill("SIGKILL");
    await once(host, "exit");
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });
});

describe("approvals, audit and rules", () => {
  test("the client gets the approval requests, and the client's audit log contains the events", async () => {
    const place = newPlace();
    const auditFile = join(place.dir, "audit.jsonl");
    const asked: string[] = [];
    const approve = async ({ command }: { readonly command: string }) => {
      asked.push(command);
      return false;
    };
    await using kit = await createToolkit({ remote: place.url, approve, auditFile });
    await expect(kit.run("git push --force")).rejects.toMatchObject({ code: "approval_refused" });
    expect(asked).toEqual(["git push --force"]);
    await expect(kit.run("rm -rf /")).rejects.toMatchObject({ code: "policy_denied", rule: "delete-root" });
    const entries = readFileSync(auditFile, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(JSON.stringify(entries)).toMatch(/"approval"/);
  });
});

describe("the program", () => {
  let place: RemotePlace;
  beforeAll(() => {
    place = newPlace();
  });

  async function nacre(
    ...args: readonly string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [program, ...args], {
      env: place.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].on("data", (chunk) => (texts[name] += chunk));
    const [code] = await once(child, "close");
    return { code, ...texts };
  }

  test("passes output, exit code and shells through", async () => {
    expect(await nacre("--remote", place.url, "run", "pwd; echo err >&2; exit 9")).toEqual({
      code: 9,
      stdout: `${place.work}\n`,
      stderr: "err\n",
    });
    const started = await nacre("--remote", place.url, "run", "-b", "echo back; sleep 1000");
    const id = started.stdout.trim();
    expect((await nacre("--remote", place.url, "wait", id, "--for", "back")).stdout).toBe("back\n");
    expect((await nacre("--remote", place.url, "ps", "-q")).stdout).toContain(id);
    expect((await nacre("--remote", place.url, "kill", id)).code).toBe(0);
    expect((await nacre("--remote", place.url, "init")).stderr).toMatch(/this machine only/);
    expect(await nacre("--remote", "ssh://-oProxyCommand=x", "run", "true")).toMatchObject({ code: 1 });
  });

  test("Ctrl-C reaches the command", async () => {
    const child = spawn(
      process.execPath,
      [
        program,
        "--remote",
        place.url,
        "run",
        "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.05; done",
      ],
      { env: place.env, stdio: ["ignore", "pipe", "ignore"] },
    );
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      if (stdout === "up\n") child.kill("SIGINT");
    });
    const [code] = await once(child, "close");
    expect([stdout, code]).toEqual(["up\ncaught\n", 5]);
  });

  test("serves MCP, and a client gets the result of a call by its key after a restart", async () => {
    const key = "0123456789abcdef0123456789abcdef";
    const call = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: {
        name: "Bash",
        arguments: {
          command: "echo x >>count; touch began; while [ ! -e finish ]; do sleep 0.05; done; cat count",
        },
        _meta: { "nacre/key": key },
      },
    });
    const first = mcp();
    first.send(...HANDSHAKE, call(1));
    await eventually(() => readFileSync(join(place.work, "began")));
    first.child.kill("SIGKILL");
    const second = mcp();
    second.send(...HANDSHAKE, call(7));
    writeFileSync(join(place.work, "finish"), "");
    const answer = await eventually(() => {
      const found = second.messages().find(({ id }) => id === 7);
      if (!found) throw new Error("no answer yet");
      return found;
    });
    expect(answer.result.structuredContent.output).toBe("x\n");
    second.child.stdin.end();
    await once(second.child, "exit");
  });

  const HANDSHAKE = [
    {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    },
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ];

  function mcp() {
    const child = spawn(process.execPath, [program, "mcp", "--remote", place.url], {
      env: place.env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    const messages = () =>
      stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    const send = (...lines: readonly unknown[]) => {
      for (const line of lines) child.stdin.write(`${JSON.stringify(line)}\n`);
    };
    return { child, messages, send };
  }
});
