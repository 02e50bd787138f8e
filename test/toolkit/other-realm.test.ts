// The built library inside another realm, as a test runner such as Jest loads it, and together with a second copy.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

interface Run {
  readonly code: number | null;
  readonly printed: unknown;
  readonly stderr: string;
}

/** Runs the script in a separate Node process. Returns the JSON value that the script prints. */
async function runScript(
  script: string,
  { args = [] as readonly string[], dir = directory() } = {},
): Promise<Run> {
  const child = spawn(process.execPath, ["--experimental-vm-modules", "--no-warnings", ...args], {
    cwd: dir,
    env: { ...process.env, NACRE_HOME: join(dir, "state"), HOME: dir },
    timeout: 25_000,
  });
  child.stdin.end(script);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, printed: stdout === "" ? undefined : JSON.parse(stdout), stderr };
}

const REALM = [join(root, "test/fixtures/bin/other-realm.mjs"), join(root, "dist/index.js")];
const inRealm = (body: string) =>
  runScript(
    `import { createToolkit, NacreError, ShellManager, BaseTool, ToolResult } from "nacre";
     const print = (value) => outside.console.log(JSON.stringify(value));
     const workingDir = process.cwd();
     ${body}`,
    { args: REALM },
  );
const success = (printed: unknown) => ({ code: 0, printed, stderr: "" });

test("the realm of these tests has its own errors, promises and regular expressions", async () => {
  const body = `
    const { statSync } = await import("node:fs");
    let thrown;
    try { statSync("/nowhere"); } catch (error) { thrown = error; }
    print([thrown instanceof Error, thrown instanceof outside.Error, /x/ instanceof outside.RegExp,
      Promise.resolve() instanceof outside.Promise]);`;
  expect(await inRealm(body)).toEqual(success([false, true, false, false]));
});

test("a toolkit in another realm starts, judges and runs commands, and can be disposed of", async () => {
  const body = `
    const kit = await createToolkit({ workingDir });
    const ran = await kit.call("Bash", { command: "echo hi; exit 3" });
    const denied = await kit.call("Bash", { command: "sudo rm -rf /" });
    const started = await kit.call("Bash", { command: "echo up; sleep 300", run_in_background: true });
    const bash_id = started.metadata.bash_id;
    const read = await kit.call("BashOutput", { bash_id, wait_for: "up" });
    const killed = await kit.call("KillShell", { shell_id: bash_id });
    const kept = await kit.session("s").run("cd / && export A=1");
    const state = await kit.session("s").run('echo "$PWD $A"');
    print([ran.output, ran.metadata.exit_code, denied.code, read.output, killed.metadata.survivors, state.stdout]);
    await kit.dispose();`;
  expect(await inRealm(body)).toEqual(
    success(["hi\n", 3, "policy_denied", expect.stringContaining("up"), [], "/ 1\n"]),
  );
});

test("system errors are recognized in another realm", async () => {
  const body = `
    const kit = await createToolkit({ workingDir });
    const failure = async (work) => { try { await work(); } catch (error) { return [error instanceof NacreError, error.code, error.message]; } };
    const create = (options) => failure(() => kit.manager.createShell({ command: "true", ...options }));
    print([
      await create({ workingDir: "/nowhere" }),
      await create({ workingDir: "/etc/passwd" }),
      await failure(() => createToolkit({ workingDir, shellPath: "/nowhere/bash" })),
    ]);
    await kit.dispose();`;
  expect(await inRealm(body)).toEqual(
    success([
      [true, "spawn_failed", "Working directory does not exist: /nowhere"],
      [true, "spawn_failed", "Working directory is not a directory: /etc/passwd"],
      [true, "spawn_failed", "The shell /nowhere/bash cannot be used: it does not exist."],
    ]),
  );
});

test("a wait accepts a regular expression of either realm", async () => {
  const body = `
    const kit = await createToolkit({ workingDir });
    const server = await kit.session("s").start("echo listening on 8080; sleep 300");
    const ours = await server.waitFor({ pattern: /listening on \\d+/, timeoutMs: 10000 });
    const theirs = await server.waitFor({ pattern: new outside.RegExp("on 80+"), timeoutMs: 10000 });
    print([ours.line ?? ours, theirs.line ?? theirs]);
    await kit.dispose();`;
  const { code, printed } = await inRealm(body);
  expect([code, printed]).toEqual([0, ["listening on 8080", "listening on 8080"]]);
});

test("a minimal abort signal that is not Node's own ends a call", async () => {
  const body = `
    class OtherSignal { aborted = false; #listeners = new Set();
      addEventListener(_type, listener) { this.#listeners.add(listener); }
      removeEventListener(_type, listener) { this.#listeners.delete(listener); }
      abort() { this.aborted = true; for (const listener of [...this.#listeners]) listener({ type: "abort" }); } }
    const kit = await createToolkit({ workingDir });
    const running = new OtherSignal();
    const onProgress = () => running.abort();
    const long = kit.call("Bash", { command: "echo on; sleep 300" }, { signal: running, onProgress });
    const before = new OtherSignal();
    before.abort();
    const never = await kit.call("Bash", { command: "echo > ran" }, { signal: before });
    const modes = await createToolkit({ workingDir, dialect: "modes" });
    const neverEither = await modes.call("bash", { command: "echo > ran" }, { signal: before });
    const { existsSync } = await import("node:fs");
    print([(await long).code, never.code, neverEither.code, existsSync("ran")]);
    await kit.dispose();
    await modes.dispose();`;
  expect(await inRealm(body)).toEqual(success(["aborted", "aborted", "aborted", false]));
});

test("the executor awaits the promise that another realm's hook returns; a rejection becomes a note", async () => {
  const body = `
    const hooks = [{ before: () => outside.Promise.reject(new outside.TypeError("no entry")) }];
    const kit = await createToolkit({ workingDir, hooks });
    const { output, notes } = await kit.call("Bash", { command: "echo hi" });
    print([output, notes]);
    await kit.dispose();`;
  expect(await inRealm(body)).toEqual(success(["hi\n", ["A hook before the call failed: no entry"]]));
});

test("errors and results of a second copy of the package are recognized", async () => {
  const dir = realpathSync(directory());
  const copy = join(dir, "node_modules/nacre");
  mkdirSync(copy, { recursive: true });
  for (const part of ["dist", "package.json"])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const script = `
    const first = await import(${JSON.stringify(join(root, "dist/index.js"))});
    const second = await import(${JSON.stringify(join(copy, "dist/index.js"))});
    const { z } = await import(${JSON.stringify(join(root, "node_modules/zod/index.js"))});
    class Greet extends second.BaseTool {
      name = "Greet"; description = "greets"; category = "utility"; input = z.object({ to: z.string() });
      async run(_context, { to }) {
        if (to === "") throw new second.NacreError("limit_reached", "nobody to greet");
        return second.ToolResult.ok("hello " + to);
      }
    }
    const kit = await first.createToolkit({ workingDir: ${JSON.stringify(dir)} });
    kit.registry.register(new Greet());
    const greeted = await kit.call("Greet", { to: "you" });
    const failed = await kit.call("Greet", { to: "" });
    const error = new second.NacreError("internal", "x");
    class Special extends first.NacreError {}
    console.log(JSON.stringify([greeted.output, greeted.error, failed.code, first.NacreError === second.NacreError,
      error instanceof first.NacreError, error instanceof Special, new Special("internal", "y") instanceof second.NacreError,
      new Error("z") instanceof first.NacreError, greeted instanceof first.ToolResult]));
    await kit.dispose();`;
  const { code, printed, stderr } = await runScript(script, { args: ["--input-type=module"], dir });
  expect([code, stderr]).toEqual([0, ""]);
  expect(printed).toEqual(["hello you", null, "limit_reached", false, true, false, true, false, true]);
});
