// The file tools do not bypass the policy or the sandbox: a path that a command cannot use is refused by
// these tools, too.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Toolkit, ToolkitOptions } from "../../src/toolkit.ts";
import { useFileTools } from "../fixtures/file-tools.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";

const SECRET = "PRIVATE-KEY-OF-THE-USER";
const world = useFileTools();
const realHome = process.env["HOME"];
const home = () => join(world.outside(), "home");
const key = () => join(home(), ".ssh/id_ed25519");
let flipping: ChildProcess | undefined;

beforeEach(() => {
  for (const name of [".ssh", "docs"]) mkdirSync(join(home(), name), { recursive: true });
  writeFileSync(key(), `${SECRET}\n`);
  writeFileSync(join(home(), ".bashrc"), "# mine\n");
  writeFileSync(world.path("plain"), "plain\n");
  symlinkSync(key(), world.path("link"));
  symlinkSync("link", world.path("chain"));
  symlinkSync(join(home(), ".ssh"), world.path("dir"));
  symlinkSync(home(), world.path("home"));
  symlinkSync("../outside/home/.ssh/id_ed25519", world.path("relative"));
  symlinkSync(`/proc/self/root${key()}`, world.path("proc"));
  symlinkSync(join(home(), ".ssh/authorized_keys"), world.path("dangling"));
  mkdirSync(world.path("real/sub"), { recursive: true });
  symlinkSync(world.path("real/sub"), world.path("deep"));
  mkdirSync(world.path(".git/hooks"), { recursive: true });
  writeFileSync(world.path(".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(world.path(".git/config"), "[core]\n");
  mkdirSync(world.path(".git/objects"));
  mkdirSync(world.path(".git/refs"));
  symlinkSync(".git/hooks", world.path("hooks"));
  process.env["HOME"] = home();
});
afterEach(() => {
  flipping?.kill("SIGKILL");
  flipping = undefined;
});
afterAll(() => {
  process.env["HOME"] = realHome;
});

/** Different paths of the key. */
const READS: readonly (() => string)[] = [
  () => key(),
  () => "~/.ssh/id_ed25519",
  () => "../outside/home/.ssh/id_ed25519",
  () => "link",
  () => "chain",
  () => "relative",
  () => "dir/id_ed25519",
  () => "home/.ssh/id_ed25519",
  () => "home/docs/../.ssh/id_ed25519",
  () => "dir/../.ssh/id_ed25519",
  () => "deep/../../home/.ssh/id_ed25519",
  () => `/proc/self/root${key()}`,
  () => `/proc/thread-self/root${key()}`,
  () => `/proc/${process.pid}/root${key()}`,
  () => "/proc/self/cwd/link",
  () => `/proc/${process.pid}/cwd/../../..${key()}`,
  () => "proc",
  () => `//${key()}`,
  () => key().replace("/.ssh/", "/./.ssh//"),
  () => `${home()}/docs/../../home/.ssh/id_ed25519`,
];

/** Paths that a command may not write, by the policy or by the sandbox. */
const WRITES: readonly (() => string)[] = [
  () => key(),
  () => "link",
  () => "chain",
  () => "dangling",
  () => "dir/authorized_keys",
  () => "home/.ssh/config",
  () => "~/.bashrc",
  () => "home/.bashrc",
  () => `/proc/self/root${home()}/.bashrc`,
  () => ".git/hooks/pre-commit",
  () => "hooks/pre-commit",
  () => "real/../.git/hooks/pre-commit",
  () => ".git/config",
  () => "/etc/cron.d/nacre-test",
  () => "/usr/bin/nacre-test",
];

const SEARCHES: readonly (() => string)[] = [() => "~/.ssh", () => "dir", () => "home/.ssh", () => "link"];

function escapeTests(options: Partial<ToolkitOptions>): void {
  let kit: Toolkit;
  beforeEach(async () => {
    kit = await world.open(options);
  });

  const untouched = () => {
    expect(readFileSync(key(), "utf8")).toBe(`${SECRET}\n`);
    expect(readFileSync(join(home(), ".bashrc"), "utf8")).toBe("# mine\n");
    expect(readFileSync(world.path(".git/config"), "utf8")).toBe("[core]\n");
    for (const path of [
      join(home(), ".ssh/authorized_keys"),
      join(home(), ".ssh/config"),
      world.path(".git/hooks/pre-commit"),
    ])
      expect([path, existsSync(path)]).toEqual([path, false]);
    for (const path of ["/etc/cron.d/nacre-test", "/usr/bin/nacre-test"])
      expect([path, existsSync(path)]).toEqual([path, false]);
  };

  test("no path leads to the key", async () => {
    for (const path of READS) {
      const file_path = path();
      const result = await kit.call("Read", { file_path });
      expect([file_path, result.success]).toEqual([file_path, false]);
      expect(JSON.stringify(result.toWire())).not.toContain(SECRET);
    }
  }, 120_000);

  test("no path that a command may not write is written", async () => {
    for (const path of WRITES) {
      const file_path = path();
      for (const [tool, args] of [
        ["Write", { file_path, content: "owned\n" }],
        ["Edit", { file_path, old_string: "#", new_string: "owned" }],
      ] as const) {
        const result = await kit.call(tool as string, args);
        expect([tool, file_path, result.success]).toEqual([tool, file_path, false]);
        expect(JSON.stringify(result.toWire())).not.toContain(SECRET);
      }
    }
    untouched();
  }, 120_000);

  test("no search shows the key", async () => {
    for (const path of SEARCHES) {
      const found = await kit.call("Grep", { pattern: ".", path: path(), output_mode: "content" });
      expect(JSON.stringify(found.toWire())).not.toContain(SECRET);
      const listed = await kit.call("Glob", { pattern: "*", path: path() });
      expect(listed.output).not.toContain("id_ed25519\n");
    }
    const all = await kit.call("Grep", { pattern: "PRIVATE", path: ".", output_mode: "content" });
    expect(all.output).toBe("No matches found.");
  }, 120_000);

  test("a link that constantly changes never exposes the key, and no write reaches its target", async () => {
    const script = `cd '${world.work()}'; while :; do ln -sfn plain flip; ln -sfn '${key()}' flip; done`;
    flipping = spawn("bash", ["-c", script], { stdio: "ignore" });
    let reads = 0;
    for (let i = 0; i < 100; i++) {
      const result = await kit.call("Read", { file_path: "flip" });
      expect(JSON.stringify(result.toWire())).not.toContain(SECRET);
      if (result.success) reads++;
      await kit.call("Write", { file_path: "flip", content: `plain ${i}\n` });
      expect(readFileSync(key(), "utf8")).toBe(`${SECRET}\n`);
    }
    expect(reads).toBeGreaterThan(0);
  }, 240_000);

  test("a hard link is read only if a command can read it", async () => {
    linkSync(key(), world.path("hard"));
    const command = await kit.run("cat hard").then(
      ({ stdout }) => stdout.includes(SECRET),
      () => false,
    );
    const result = await kit.call("Read", { file_path: "hard" });
    expect(result.success && !command).toBe(false);
  });
}

describe("with the policy but without a sandbox", () => escapeTests({}));

describeSandboxed("with a sandbox but without the policy", () => {
  escapeTests({ sandbox: "workspace-write", policy: "off" });

  test("a directory next to the workspace can be read but not written, as with commands", async () => {
    const kit = await world.open({ sandbox: "workspace-write", policy: "off" });
    const file_path = join(world.outside(), "x");
    writeFileSync(file_path, "text\n");
    expect(await kit.call("Read", { file_path })).toMatchObject({ success: true });
    const edit = { file_path, old_string: "text", new_string: "changed" };
    expect(await kit.call("Edit", edit)).toMatchObject({ code: "invalid_input" });
    expect(readFileSync(file_path, "utf8")).toBe("text\n");
    expect(await kit.call("Write", { file_path: "/tmp/x", content: "" })).toMatchObject({
      error: expect.stringContaining("private to each sandbox"),
    });
  });

  test("a read-only sandbox prevents every write", async () => {
    const kit = await world.open({ sandbox: "read-only", policy: "off" });
    expect(await kit.call("Read", { file_path: "plain" })).toMatchObject({ success: true });
    expect(await kit.call("Write", { file_path: "plain", content: "x" })).toMatchObject({
      error: expect.stringContaining("read-only"),
    });
    expect(readFileSync(world.path("plain"), "utf8")).toBe("plain\n");
  });
});
