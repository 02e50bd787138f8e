// The state directory is removed, replaced or locked while a host runs. Running commands keep their exit codes, and the
// directory is created again. If that fails, the error names the directory.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { attempt } from "../../src/support/attempt.ts";
import { eventually } from "../fixtures/shells.ts";
import { giveAway, unprivileged, useSpecialHosts } from "../fixtures/special-host.ts";
import { useTools } from "../fixtures/tools.ts";
import { program, textOf, useMcp } from "../mcp/mcp-clients.ts";

const { tools, directory } = useTools();
const specialHost = useSpecialHosts();
const mcp = useMcp();

function remove(path: string): void {
  // Retry: rmSync fails if a slot appears in the directory after rmSync has listed it.
  while (existsSync(path)) attempt(() => rmSync(path, { recursive: true, force: true }));
}

function empty(dir: string): void {
  for (const name of readdirSync(dir)) remove(join(dir, name));
}

/** Retries rm, which fails if a slot appears in the directory in the meantime. */
function removing(path: string): string {
  return `until rm -rf '${path}' 2>/dev/null; do :; done`;
}

const REMOVALS: readonly (readonly [what: string, removal: (root: string) => void])[] = [
  ["the state directory", remove],
  ["the content of the state directory", empty],
  ["keepers/", (root) => remove(join(root, "keepers"))],
  ["the content of keepers/", (root) => empty(join(root, "keepers"))],
  ["shells/", (root) => remove(join(root, "shells"))],
  ["the content of shells/", (root) => empty(join(root, "shells"))],
];

/** Waits until the pool has slots again. */
async function poolFull(root: string): Promise<void> {
  await eventually(() =>
    expect(
      readdirSync(join(root, "shells")).filter((name) => name.startsWith("shell_")).length,
    ).toBeGreaterThan(1),
  );
}

describe.each(REMOVALS)("if %s is removed", (_what, removal) => {
  test("between two commands, a session loses neither state nor output", async () => {
    const { bash, manager } = tools();
    await bash("v=kept; cd /");
    removal(manager.root.path);
    expect((await bash("echo $v; pwd; exit 3")).output).toBe("kept\n/\n");
    expect((await bash("echo $v; pwd")).output).toBe("kept\n/\n");
    expect((await bash("echo fresh", {}, { sessionId: "another" })).output).toBe("fresh\n");
  });

  test("while slots wait, the next commands run", async () => {
    const { call, manager } = tools();
    await call("bash", { command: "true" });
    await poolFull(manager.root.path);
    removal(manager.root.path);
    for (const word of ["one", "two", "three", "four"]) {
      const result = await call("bash", { command: `echo ${word}; exit 4` });
      expect({ output: result.output, code: result.metadata["exit_code"] }).toEqual({
        output: `${word}\n`,
        code: 4,
      });
    }
  });

  test("while commands run, their exit codes and output are not affected", async () => {
    const { bash, call, start, dir, manager } = tools();
    const command =
      "echo before; touch running.$BASHPID; until [ -e go ]; do sleep 0.02; done; echo after; (exit 5)";
    const running = [bash(command), call("bash", { command })];
    const background = await start(command);
    await eventually(() =>
      expect(readdirSync(dir).filter((name) => name.startsWith("running."))).toHaveLength(3),
    );
    removal(manager.root.path);
    writeFileSync(join(dir, "go"), "");
    for (const { output, metadata } of await Promise.all(running)) {
      expect({ output, code: metadata["exit_code"] }).toEqual({ output: "before\nafter\n", code: 5 });
    }
    expect(await background.wait(20_000)).toBe(5);
    expect(background.getAllOutput()).toBe("before\nafter\n");
    expect((await bash("echo next")).output).toBe("next\n");
    expect((await call("bash", { command: "echo next" })).output).toBe("next\n");
  });
});

test("a command that removes the state directory keeps its output and exit code, and the next commands run", async () => {
  const { bash, call, manager } = tools();
  const { path } = manager.root;
  const command = `echo before; ${removing(path)}; echo after; (exit 6)`;
  await bash("v=kept");
  const inSession = await bash(command);
  expect(inSession).toMatchObject({ output: "before\nafter\n", metadata: { exit_code: 6 } });
  expect(inSession.notes.join("\n")).toContain("had been removed. It was created again");
  expect((await bash("echo $v")).output).toBe("kept\n");
  const alone = await call("bash", { command });
  expect(alone).toMatchObject({ output: "before\nafter\n", metadata: { exit_code: 6 } });
  expect((await call("bash", { command: "echo next" })).output).toBe("next\n");
});

test("a session whose bash dies after its saved state was removed reports the loss, and continues", async () => {
  const { bash, manager } = tools();
  await bash("v=lost");
  const ended = await bash(`${removing(manager.root.path)}; echo last; kill -9 $$`);
  expect(ended.output).toBe("last\n");
  expect(ended.metadata).toMatchObject({ exit_code: 137, restarted: true });
  expect(ended.notes.join("\n")).toContain("the rest of its state is lost");
  expect((await bash("echo [$v]")).output).toBe("[]\n");
});

test("a command that is killed after its directory was removed is reported as killed", async () => {
  const { call, start, manager } = tools();
  const shell = await start("echo up; exec sleep 1000");
  await shell.waitFor({ pattern: /up/ }, 20_000);
  remove(manager.root.path);
  const killed = await call("KillShell", { shell_id: shell.id });
  expect(killed.error ?? "").toBe("");
  expect(shell.outcome).toMatchObject({ kind: "killed" });
});

describe.each([
  ["the state directory", (root: string) => root],
  ["shells/", (root: string) => join(root, "shells")],
  ["keepers/", (root: string) => join(root, "keepers")],
])("a file in place of %s", (_what, placeOf) => {
  test("is named in every error, and commands run again after its removal", async () => {
    const { bash, call, dir, manager } = tools();
    const { path } = manager.root;
    await bash("v=kept");
    const command = "echo out; touch running; until [ -e go ]; do sleep 0.02; done; (exit 7)";
    const running = call("bash", { command });
    await eventually(() => expect(readdirSync(dir)).toContain("running"));
    const place = placeOf(path);
    renameSync(place, join(dir, "moved"));
    writeFileSync(place, "");
    writeFileSync(join(dir, "go"), "");
    const ran = await running;
    expect(ran.metadata["exit_code"]).toBe(7);
    if (!place.endsWith("keepers")) {
      expect(ran.output).toBe("");
      expect(ran.notes.join("\n")).toContain("output lost: its directory");
    }
    const refusals = [];
    for (let tries = 0; tries < 4; tries++) refusals.push(await call("bash", { command: "echo refused" }));
    expect(refusals.at(-1)?.output).toBe("");
    expect(refusals.at(-1)?.error).toContain(`The state directory ${path} cannot be used: `);
    expect(refusals.at(-1)?.error).toContain("is not a directory");
    rmSync(place);
    expect((await call("bash", { command: "echo again" })).output).toBe("again\n");
    expect((await bash("echo $v")).output).toBe("kept\n");
  });
});

test("the error names a state directory that is not writable; starts work again once it is writable", async () => {
  const base = directory();
  chmodSync(base, 0o755);
  const state = join(giveAway(makeDir(join(base, "own"))), "state");
  const host = specialHost({ prefix: unprivileged });
  // Use no slots: the directory of a waiting slot would still be writable.
  await host.manager({ stateRoot: state, poolSize: 0 });
  const first = await host.start({ command: "exit 3" });
  expect((await host.wait(first.id)).exitCode).toBe(3);
  for (const locked of [state, join(state, "shells")]) {
    chmodSync(locked, 0o500);
    if (locked === state) chmodSync(locked, 0);
    const { message } = await host.refusedStart({ command: "true" });
    expect(message).toContain(`The state directory ${state} cannot be used: EACCES`);
    expect(message).toContain("NACRE_HOME");
    chmodSync(locked, 0o700);
    const next = await host.start({ command: "exit 4" });
    expect((await host.wait(next.id)).exitCode).toBe(4);
  }
  remove(state);
  const last = await host.start({ command: "exit 5" });
  expect((await host.wait(last.id)).exitCode).toBe(5);
});

test("over MCP, calls keep working after the state directory was removed", async () => {
  const { call, dir } = await mcp.inProcess();
  const state = join(dir, "../state");
  await call("Bash", { command: "true" });
  remove(state);
  expect(textOf(await call("Bash", { command: "echo one" }))).toContain("one\n");
  remove(state);
  expect(textOf(await call("Bash", { command: "echo two" }))).toContain("two\n");
});

test("nacre run keeps the output and the exit code of a command that removes the state directory", () => {
  const state = join(directory(), "state");
  for (const words of [[], ["--session", "work"]]) {
    const command = `echo before; ${removing(state)}; echo after; (exit 6)`;
    const { status, stdout } = spawnSync(
      process.execPath,
      [program, "run", "--policy", "off", ...words, command],
      {
        env: { PATH: process.env["PATH"], HOME: "/", NACRE_HOME: state },
        encoding: "utf8",
        timeout: 30_000,
      },
    );
    expect({ status, stdout }).toEqual({ status: 6, stdout: "before\nafter\n" });
  }
});

function makeDir(path: string): string {
  mkdirSync(path);
  return path;
}
