// The ordinary work of an agent succeeds in the profile workspace-write.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToolkit, type Toolkit, type ToolkitOptions } from "../../src/toolkit.ts";
import { describeSandboxed, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const { workspace, home } = world;

const kit = async (options: ToolkitOptions = {}): Promise<Toolkit> =>
  await createToolkit({
    workingDir: workspace,
    stateRoot: join(home, "state"),
    sandbox: "workspace-write",
    policy: "off",
    ...options,
  });

const missing = (program: string) => spawnSync(program, ["--version"]).error !== undefined;

describeSandboxed("in workspace-write", () => {
  test("git commits, branches and merges", async () => {
    execFileSync("git", ["init", "-q", "-b", "main", workspace]);
    for (const [key, value] of [
      ["user.name", "a"],
      ["user.email", "a@b"],
    ] as const) {
      execFileSync("git", ["-C", workspace, "config", key, value]);
    }
    await using tools = await kit();
    const command =
      "echo 1 >a && git add a && git commit -qm one && git checkout -qb side && echo 2 >b && git add b && git commit -qm two && git checkout -q main && git merge -q side && git stash list && git gc -q && git log --format=%s";
    const result = await tools.call("Bash", { command });
    expect(result.toDisplay()).toContain("two\none\n");
    expect(result.metadata).toMatchObject({ exit_code: 0, sandbox: "workspace-write, network none" });
  });

  test("a truncated result names the call that shows the rest, but no file that the sandbox hides", async () => {
    await using tools = await kit();
    const result = await tools.call("Bash", { command: "seq 1 100000" });
    const [, bash_id = ""] = /BashOutput with bash_id="(\w+)" and search/.exec(result.output) ?? [];
    expect(result.output).not.toContain(home);
    expect(result.metadata).toMatchObject({ truncated: true, bash_id });
    const found = await tools.call("BashOutput", { bash_id, search: "^50000$" });
    expect(found.output).toContain("stdout:50000: 50000");
  });

  test("a git command that fails to write the config gets a hint", async () => {
    await using tools = await kit();
    const result = await tools.call("Bash", { command: "git remote add origin /nowhere" });
    expect(result.success).toBe(false);
    expect(result.notes.join()).toContain("gitConfig (--git-config) lets commands write the config");
    await using allowed = await kit({ gitConfig: true });
    expect((await allowed.call("Bash", { command: "git remote add origin /nowhere" })).success).toBe(true);
  });

  test("programs exchange messages with their children over socket pairs", async () => {
    await using tools = await kit();
    writeFileSync(
      join(workspace, "fork.js"),
      'const { fork } = require("child_process"); if (process.send) process.send("from the child"); else fork(__filename).on("message", (m) => console.log(m)).on("exit", () => console.log("over"));',
    );
    const pairs =
      'for my $type (SOCK_STREAM, 5, SOCK_STREAM | 02000000) { socketpair(my $one, my $two, AF_UNIX, $type, 0) or die "$!"; send($one, "heard\\n", 0); recv($two, my $text, 9, 0); print $text }';
    const command = `'${process.execPath}' fork.js && perl -MSocket -e '${pairs}'`;
    const result = await tools.call("Bash", { command });
    expect(result.toDisplay()).toBe("from the child\nover\nheard\nheard\nheard\n");
  });

  test("npm installs from a cache", async () => {
    const cache = join(home, "npm-cache");
    const [lib, app] = [join(workspace, "lib"), join(workspace, "app")];
    mkdirSync(lib);
    mkdirSync(app);
    writeFileSync(join(lib, "package.json"), '{"name":"lib","version":"1.0.0","main":"i.js"}');
    writeFileSync(join(lib, "i.js"), "module.exports = 42");
    writeFileSync(join(app, "package.json"), '{"name":"app","version":"1.0.0"}');
    const npm = (cwd: string, ...words: string[]) =>
      execFileSync("npm", [...words, "--cache", cache, "--offline", "--no-audit", "--no-fund"], {
        cwd,
        stdio: "pipe",
      });
    npm(lib, "pack");
    npm(app, "install", "../lib/lib-1.0.0.tgz");
    await using tools = await kit();
    const command = `cd app && rm -rf node_modules && npm ci --cache '${cache}' --offline --no-audit --no-fund && node -p 'require("lib")'`;
    const result = await tools.call("Bash", { command });
    expect(result.toDisplay()).toMatch(/^42$/m);
    expect(result.success).toBe(true);
  });

  test("node starts workers and child processes", async () => {
    await using tools = await kit();
    const program =
      'const { Worker } = require("worker_threads"); const { execSync } = require("child_process"); require("fs").writeFileSync("made", execSync("echo child")); new Worker("require(\\"worker_threads\\").parentPort.postMessage(1)", { eval: true }).on("message", (m) => console.log("worker", m));';
    const result = await tools.call("Bash", { command: `'${process.execPath}' -e '${program}' && cat made` });
    expect(result.toDisplay()).toContain("worker 1\nchild\n");
  });

  test.skipIf(missing("python3"))("python starts processes", async () => {
    await using tools = await kit();
    const program =
      "import multiprocessing, tempfile, subprocess\\ndef f(x): return x * x\\nif __name__ == '__main__':\\n  with multiprocessing.Pool(2) as p: print(p.map(f, [1, 2, 3]))\\n  print(tempfile.gettempdir(), subprocess.run(['true']).returncode)";
    const result = await tools.call("Bash", { command: `printf '%b' "${program}" >p.py && python3 p.py` });
    expect(result.toDisplay()).toContain("[1, 4, 9]\n/tmp 0\n");
  });

  test.skipIf(missing("gcc") || missing("make"))("make and gcc build a program", async () => {
    await using tools = await kit();
    const command =
      "mkdir -p c && cd c && printf '#include <stdio.h>\\nint main(void) { puts(\"built\"); return 0; }\\n' >m.c && printf 'm: m.c\\n\\tgcc -o m m.c\\n' >Makefile && make -s && ./m";
    const result = await tools.call("Bash", { command });
    expect(result.toDisplay()).toContain("built\n");
  });

  test("a background server can be reached from the session that started it", async () => {
    await using tools = await kit();
    const serve = `'${process.execPath}' -e 'require("http").createServer((q, s) => s.end("served")).listen(8124, "127.0.0.1", () => console.log("up"))' >log 2>&1 & until grep -q up log; do read -t 0.02 <> <(:); done; true`;
    const started = await tools.call("Bash", { command: serve });
    expect(started.metadata).toMatchObject({ exit_code: 0, leftovers: [expect.anything()] });
    const asked = await tools.call("Bash", {
      command: `'${process.execPath}' -e 'fetch("http://127.0.0.1:8124").then((r) => r.text()).then(console.log)'`,
    });
    expect(asked.toDisplay()).toContain("served");
  });

  test("both dialects report their sandbox, and the description of the tool names the sandbox", async () => {
    await using modes = await kit({ dialect: "modes", network: "full" });
    const result = await modes.call("bash", { command: "echo x >~/y" });
    expect(result.metadata).toMatchObject({ exit_code: 1, sandbox: "workspace-write, network full" });
    const [tool] = modes.schemas("anthropic");
    expect(tool?.description).toContain(
      "Commands run in a sandbox. Only the workspace and /tmp can be written",
    );
    const left = await modes.call("bash", { command: "sleep 1000 & echo x" });
    expect(left.notes.join()).toContain("ended with its sandbox");
  });

  test("a background shell reports its sandbox, and a command that fails without network gets a hint", async () => {
    await using tools = await kit();
    const started = await tools.call("Bash", { command: "echo up", run_in_background: true });
    expect(started.metadata.sandbox).toBe("workspace-write, network none");
    const read = await tools.call("BashOutput", {
      bash_id: started.metadata.bash_id ?? "",
      wait_for: "exit",
    });
    expect(read.metadata.sandbox).toBe("workspace-write, network none");
    const failed = await tools.call("Bash", { command: "(exec 3<>/dev/tcp/192.0.2.1/80)" });
    expect(failed.notes.join()).toContain('network "full" (--network full)');
  });
});
