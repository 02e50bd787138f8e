// A sandboxed command can neither see the state root of any nacre of this user nor write to it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { KeeperRoots } from "../../src/engine/keeper-roots.ts";
import { thisProcess } from "../../src/engine/process-table.ts";
import { usualStateRoots } from "../../src/engine/state-dir.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { ShellManager } from "../../src/shell-manager.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { said } from "../fixtures/sessions.ts";

const world = useSandboxWorld();
const { home, workspace, outside } = world;
const PROFILES = ["read-only", "workspace-write"] as const;

/** Starts another nacre without a sandbox, with slots that wait for a job. */
async function another(stateRoot: string): Promise<ShellManager> {
  const manager = new ShellManager({ stateRoot });
  onTestFinished(() => manager.dispose());
  await manager.warmUp();
  return manager;
}

function withVariable(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

interface Root {
  readonly name: string;
  readonly make: () => Promise<string> | string;
}

/**
 * Prepares the start of a program in a sandbox while another nacre has this state root. `run` starts the
 * program.
 */
async function prepareStart(root: string, sandbox: (typeof PROFILES)[number], argv: readonly string[]) {
  const stateRoot = join(outside, "own-state");
  const shell = { id: "shell_0", dir: filled(stateRoot), holder: thisProcess() };
  const confined = new Sandbox(
    { sandbox },
    {
      stateRoots: [stateRoot],
      runningRoots: () => [root],
      trusted: () => [],
      self: thisProcess(),
      isAlive: () => true,
    },
  );
  await confined.prepare(workspace);
  const { start } = confined.start({ workspace, workingDir: workspace, argv, readable: [] }, shell);
  onTestFinished(() => void start.end());
  for (const { name, content } of start.files) writeFileSync(join(shell.dir, name), content);
  return { run: () => spawnSync("bash", ["-c", start.script], { encoding: "utf8" }) };
}

/** Adds a file that a command could read. */
function filled(root: string): string {
  mkdirSync(join(root, "shells/shell_0"), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, "shells/shell_0/out"), "SECRET\n");
  return root;
}

const ROOTS: readonly Root[] = [
  { name: "the default root", make: () => filled(join(home, ".local/state/nacre")) },
  {
    name: "the root that NACRE_HOME names",
    make: () => {
      withVariable("NACRE_HOME", join(outside, "nacre-home"));
      return filled(join(outside, "nacre-home"));
    },
  },
  {
    name: "the root in XDG_STATE_HOME, with NACRE_HOME set to another one",
    make: () => {
      withVariable("XDG_STATE_HOME", join(outside, "xdg"));
      withVariable("NACRE_HOME", join(outside, "nacre-home"));
      return filled(join(outside, "xdg/nacre"));
    },
  },
  {
    name: "the root of a running nacre, in any directory",
    make: async () => {
      const { root } = await another(join(outside, "elsewhere"));
      return filled(root.path);
    },
  },
  {
    name: "the root of a running nacre, which contains the workspace",
    make: async () => {
      const { root } = await another(join(workspace, ".."));
      return filled(root.path);
    },
  },
];

describeSandboxed("a command in a sandbox", () => {
  describe.each(PROFILES)("%s", (sandbox) => {
    test.each(ROOTS)("does not see $name", async ({ make }) => {
      const root = await make();
      const command = `cat '${root}/shells/shell_0/out'; find '${root}' -type p`;
      const shell = await runIn(world.manager({ sandbox }), command, workspace);
      expect(shell.getAllOutput()).toContain("Permission denied");
      expect(shell.getAllOutput()).not.toContain("SECRET");
      const control = await runIn(world.manager({ sandbox: "off" }), command, workspace);
      expect(control.getAllOutput()).toContain("SECRET");
    });
  });

  test.each(PROFILES)(
    "starts although another nacre has just removed that nacre's own state root (%s)",
    async (sandbox) => {
      const root = filled(join(outside, "vanishing"));
      const { run } = await prepareStart(root, sandbox, ["/bin/ls", root]);
      expect(run().stderr).toContain("Permission denied");
      rmSync(root, { recursive: true });
      expect(run().stderr).toContain("No such file or directory");
      expect(run().stderr).not.toContain("bwrap");
    },
  );

  test("starts exactly once, without messages from bwrap, while another nacre's state root comes and goes", async () => {
    const parent = join(outside, "flickering");
    const root = join(parent, "state");
    mkdirSync(root, { recursive: true });
    const argv = ["/bin/sh", "-c", "echo out; echo err >&2; exit 3"];
    const { run } = await prepareStart(root, "workspace-write", argv);
    const script = "while (1) { rmdir $ARGV[1]; rmdir $ARGV[0]; mkdir $ARGV[0]; mkdir $ARGV[1] }";
    const toggle = spawn("perl", ["-e", script, parent, root]);
    onTestFinished(() => void toggle.kill("SIGKILL"));
    for (let start = 0; start < 40; start++) {
      expect(run()).toMatchObject({ status: 3, stdout: "out\n", stderr: "err\n" });
    }
  });

  test("that is still running does not see a default root that was created after its start", async () => {
    const own = join(outside, "own-home");
    mkdirSync(own);
    withVariable("HOME", own);
    const manager = world.manager({ sandbox: "workspace-write" });
    const session = manager.session("lives on", { workingDir: workspace });
    await session.run("true");
    const root = filled(join(own, ".local/state/nacre"));
    const command = `cat '${root}/shells/shell_0/out'`;
    const seen = said(await session.run(command));
    expect(seen.err).toContain("Permission denied");
    expect(seen.out).toBe("");
    const control = await runIn(world.manager({ sandbox: "off" }), command, workspace);
    expect(control.getAllOutput()).toBe("SECRET\n");
  });
});

describe("a state root", () => {
  test("has no fifo for jobs, scripts or reports", async () => {
    const manager = await another(join(outside, "no-fifos"));
    const source = new PassThrough();
    onTestFinished(() => void source.end());
    const shell = await manager.createShell({ command: "cat", workingDir: "/", stdin: source });
    source.write("one\n");
    await shell.waitFor({ pattern: /^one$/ }, 20_000);
    const session = manager.session("open", { workingDir: "/" });
    await session.run("sleep 300 & echo up");
    // For this command, nacre uses new loggers, because a leftover keeps the previous loggers open.
    await session.run("echo again");
    expect(fifosIn(manager.root.path)).toEqual([]);
  });

  test("of a sandboxed session has no such fifo, and the session works", async ({ skip }) => {
    skip(process.platform !== "linux");
    const manager = world.manager({ sandbox: "workspace-write" });
    const session = manager.session("confined", { workingDir: workspace });
    await session.run("x=1");
    expect(fifosIn(manager.root.path)).toEqual([]);
    await session.run("exit 3");
    expect(said(await session.run('echo "x is $x"')).out).toBe("x is 1\n");
    // The fifos of a new bash's loggers have names only until bash has opened them, before its first command.
    expect(fifosIn(manager.root.path)).toEqual([]);
  });

  test("of every running keeper is found, but not one that another process with a keeper's name claims", async () => {
    const roots = new KeeperRoots();
    expect(roots.current()).not.toContain(join(outside, "found"));
    await another(join(outside, "found"));
    expect(roots.current()).toContain(join(outside, "found"));
    const words = ["-c", "read -r", "x", "x", join(outside, "../nobody/keepers/1-0")];
    const fake = spawn("bash", words, { argv0: "nacre-keeper", stdio: ["pipe", "ignore", "ignore"] });
    onTestFinished(() => void fake.stdin.end());
    await once(fake, "spawn");
    expect(roots.current()).not.toContain(join(outside, "../nobody"));
  });
});

test("the usual roots come from the environment, from HOME and from the user database", () => {
  const roots = usualStateRoots({ NACRE_HOME: "/a", XDG_STATE_HOME: "/x" }, [() => "/h", () => "/p"]);
  expect(roots).toEqual(["/a", "/x/nacre", "/h/.local/state/nacre", "/p/.local/state/nacre"]);
  expect(usualStateRoots({})).toContain(join(userInfo().homedir, ".local/state/nacre"));
  expect(usualStateRoots({ NACRE_HOME: "relative" }, [() => "/h"])).toContain("/h/.local/state/nacre");
});

/** `find` skips directories that this user cannot read, such as the empty directory for masks. */
function fifosIn(directory: string): string[] {
  const { stdout } = spawnSync("find", [directory, "-type", "p"], { encoding: "utf8" });
  return stdout.split("\n").filter((path) => path !== "");
}
