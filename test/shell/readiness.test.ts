import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((one) => new Promise((resolve) => one.close(resolve))));
});

/** A port on which no process listens. */
async function freePort(host = "127.0.0.1"): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

const listen = (port: number, host: string) =>
  `node -e 'require("net").createServer().listen(${port}, "${host}", () => console.log("bound"))'`;

describe("a port", () => {
  test.each(["127.0.0.1", "::1"])("is ready when the shell listens on %s", async (host) => {
    const { start, read } = tools();
    const port = await freePort(host);
    const shell = await start(`sleep 0.2; exec ${listen(port, host)}`);
    const result = await read(shell, { wait_for_port: port });
    expect(result).toMatchObject({ success: true, metadata: { waited_for: "port", is_running: true } });
    expect(await shell.waitFor({ port })).toMatchObject({ kind: "listening", port });
  });

  test("of another process is not ready, and the result names that process", async () => {
    const { start, read } = tools();
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const shell = await start("sleep 300");
    const result = await read(shell, { wait_for_port: port, wait_ms: 300 });
    expect(result).toMatchObject({ success: true, metadata: { waited_for: "timeout" } });
    expect(result.notes.join()).toContain(
      `belongs to another process, not to this shell: PID ${process.pid} (`,
    );
    await expect(shell.waitFor({ port }, 50)).rejects.toThrow(`PID ${process.pid}`);
  });

  test("is awaited only until the shell ends; the wait then fails with the shell's output", async () => {
    const { start, read } = tools();
    const shell = await start("echo no config; exit 4");
    const result = await read(shell, { wait_for_port: await freePort(), wait_ms: 50_000 });
    expect(result).toMatchObject({ success: false, code: "exit_nonzero", metadata: { waited_for: "exit" } });
    expect(result.output).toContain("no config");
  });

  test.each([0, 70_000])("%i is refused", async (port) => {
    const { start, read } = tools();
    const shell = await start("sleep 300");
    const result = await read(shell, { wait_for_port: port });
    expect(result).toMatchObject({ success: false, code: "invalid_input" });
    expect(result.error).toContain("from 1 to 65535");
    await expect(shell.waitFor({ port })).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("a file", () => {
  test("is ready when it exists, relative to the directory of the shell", async () => {
    const { start, read, dir } = tools();
    const shell = await start("sleep 0.1; touch ready; sleep 300");
    const result = await read(shell, { wait_for_file: "ready" });
    expect(result).toMatchObject({ success: true, metadata: { waited_for: "file" } });
    expect(existsSync(join(dir, "ready"))).toBe(true);
  });

  test("outside of the allowed directories is refused", async () => {
    const root = directory();
    mkdirSync(join(root, "in"));
    writeFileSync(join(root, "out"), "");
    const { manager } = tools({ shells: { allowedRoots: [join(root, "in")] } });
    const shell = await manager.createShell({ command: "sleep 300", workingDir: join(root, "in") });
    await expect(shell.waitFor({ file: "../out" }, 1_000)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(shell.waitFor({ file: "/etc/passwd" }, 1_000)).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

test("a call cannot wait for a port and a file at once", async () => {
  const { start, read } = tools();
  const shell = await start("sleep 300");
  const result = await read(shell, { wait_for_port: 80, wait_for_file: "x" });
  expect(result).toMatchObject({ success: false, code: "invalid_input" });
});
