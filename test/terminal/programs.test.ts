// These tests control interactive programs through the tools until the programs exit. nacre reports what each
// program waits for.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { APPROVED, drive } from "../fixtures/terminals.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools: make } = useTools();
const TERMINALS = { terminals: true, shells: { killGraceMs: 100 } };

function git(dir: string, ...args: string[]): string {
  const own = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...own, ...args], { cwd: dir, encoding: "utf8" });
}

function needs(program: string): string | undefined {
  const found = spawnSync("bash", ["-c", `PATH=$PATH:/usr/sbin:/sbin type -P ${program}`]).status === 0;
  return found ? undefined : `${program} is not installed`;
}

test("npm init accepts answers until it exits", async () => {
  const tools = make(TERMINALS);
  const npm = await drive(tools, "npm init --no-update-notifier");
  expect(await npm.look()).toMatchObject({ waiting: "key", text: expect.stringContaining("package name:") });
  await npm.type("driven\n");
  for (let answers = 0; npm.shell.isRunning && answers < 20; answers++) await npm.input({ keys: ["Enter"] });
  expect(npm.shell.exitCode).toBe(0);
  expect(JSON.parse(readFileSync(join(tools.dir, "package.json"), "utf8"))).toMatchObject({ name: "driven" });
});

test("git add -p stages one hunk", async () => {
  const tools = make(TERMINALS);
  const lines = Array.from({ length: 30 }, (_, index) => `${index}`);
  git(tools.dir, "init", "-q");
  writeFileSync(join(tools.dir, "f"), lines.join("\n"));
  git(tools.dir, "add", ".");
  git(tools.dir, "commit", "-qm", "one");
  writeFileSync(join(tools.dir, "f"), ["first", ...lines.slice(1, 29), "last"].join("\n"));
  const add = await drive(tools, "git add -p");
  expect(await add.look()).toMatchObject({
    waiting: "line",
    text: expect.stringContaining("Stage this hunk"),
  });
  expect(await add.type("y\n")).toContain("(2/2) Stage this hunk");
  await add.type("n\n");
  await add.shell.wait(20_000);
  expect(git(tools.dir, "diff", "--cached")).toContain("+first");
  expect(git(tools.dir, "diff", "--cached")).not.toContain("+last");
});

test("git rebase -i reads its plan from vim", async ({ skip }) => {
  const missing = needs("vim");
  skip(missing !== undefined, missing);
  const tools = make(TERMINALS);
  git(tools.dir, "init", "-q");
  git(tools.dir, "config", "user.name", "n");
  git(tools.dir, "config", "user.email", "n@example.com");
  for (const name of ["a", "b", "c"]) {
    writeFileSync(join(tools.dir, name), name);
    git(tools.dir, "add", ".");
    git(tools.dir, "commit", "-qm", name);
  }
  const rebase = await drive(
    tools,
    `GIT_EDITOR='vim -u NONE --cmd "set shortmess=atToOI"' git rebase -i --root`,
  );
  expect(await rebase.look()).toMatchObject({ waiting: "key", text: expect.stringMatching(/^pick \w+ a/) });
  await rebase.type("jcwfixup", "Escape");
  await rebase.type(":wq\n");
  await rebase.shell.wait(20_000);
  expect(git(tools.dir, "log", "--format=%s").trim()).toBe("c\na");
});

test("ssh asks about an unknown host key, then for a password", async ({ skip }) => {
  const missing = ["ssh", "sshd", "bwrap"].map(needs).find((why) => why !== undefined);
  skip(missing !== undefined, missing);
  const tools = make({ ...TERMINALS, policy: "off" });
  await tools.bash("ssh-keygen -q -t ed25519 -N '' -f key");
  // As root, sshd requires a directory in /run.
  const server = `bwrap --dev-bind / / --tmpfs /run --dir /run/sshd $(PATH=$PATH:/usr/sbin type -P sshd) -i -f /dev/null -o HostKey=$PWD/key`;
  const options = [
    "UserKnownHostsFile=$PWD/known",
    "GlobalKnownHostsFile=/dev/null",
    "PubkeyAuthentication=no",
  ];
  const flags = [...options, "NumberOfPasswordPrompts=1"].map((option) => `-o ${option}`).join(" ");
  const ssh = await drive(tools, `ssh -F none ${flags} -o ProxyCommand="${server}" nobody@host.example`);
  expect(await ssh.look()).toMatchObject({ waiting: "line", text: expect.stringContaining("(yes/no") });
  expect(await ssh.type("yes\n")).toContain("password:");
  expect((await ssh.look()).waiting).toBe("secret");
  expect(await ssh.input({ text: "word\n" })).toMatchObject({ code: "secret_prompt" });
  await ssh.press("Ctrl-C");
  await ssh.shell.wait(20_000);
  expect(readFileSync(join(tools.dir, "known"), "utf8")).toContain("host.example");
});

test("the REPLs of Python and Node evaluate lines", async ({ skip }) => {
  const tools = make(TERMINALS);
  const node = await drive(tools, "NODE_REPL_HISTORY= node");
  expect((await node.look()).waiting).toBe("key");
  expect(await node.type("6 * 7\n")).toMatch(/\n42\n/);
  await node.type(".exit\n");
  expect(await node.shell.wait(20_000)).toBe(0);
  const missing = needs("python3");
  skip(missing !== undefined, missing);
  const python = await drive(tools, "python3 -q");
  expect((await python.look()).text).toBe(">>>");
  expect(await python.type("for i in range(3): print('n', i)\n\n")).toContain("n 2");
  await python.press("Ctrl-D");
  expect(await python.shell.wait(20_000)).toBe(0);
});

test("less scrolls and searches", async () => {
  const tools = make(TERMINALS);
  const less = await drive(tools, "seq 500 | less");
  expect(await less.look()).toMatchObject({ waiting: "key", text: expect.stringMatching(/^1\n2\n/) });
  expect(await less.press("PageDown")).toMatch(/^2[34]\n/);
  expect(await less.type("/333\n")).toMatch(/^333\n/);
  await less.type("q");
  expect(await less.shell.wait(20_000)).toBe(0);
});

test("top redraws itself in a new size", async ({ skip }) => {
  const missing = needs("top");
  skip(missing !== undefined, missing);
  const top = await drive(make(TERMINALS), "XDG_CONFIG_HOME=$PWD top -d 60");
  expect(await top.look()).toMatchObject({
    waiting: "key",
    text: expect.stringMatching(/^top - [\s\S]*PID/),
  });
  await top.shell.resize({ rows: 12, cols: 60 });
  // A key makes top redraw the screen.
  expect((await top.type("k")).split("\n").length).toBeLessThanOrEqual(12);
  await top.press("Escape");
  await top.press("Ctrl-C");
  await top.shell.wait(20_000);
});

test("a menu of whiptail returns the chosen entry", async ({ skip }) => {
  const missing = needs("whiptail");
  skip(missing !== undefined, missing);
  const menu = await drive(
    make(TERMINALS),
    "whiptail --menu Pick 15 40 3 a one b two c three 2>choice; cat choice",
  );
  expect(await menu.look()).toMatchObject({ waiting: "key", text: expect.stringContaining("<Ok>") });
  await menu.press("Down");
  await menu.press("Enter");
  await menu.shell.wait(20_000);
  expect((await menu.look()).text).toBe("b");
});

test("a program that asks for the cursor position gets one answer; reading the screen sends no other", async () => {
  const tools = make(TERMINALS);
  mkdirSync(join(tools.dir, "sub"));
  const asks = `printf 'abc\\033[6n'; IFS= read -rsd R -t 20 answer; printf '%q\\n' "$answer"; read -rst 1 -n 1 more; echo "more:$more"; read -r`;
  const query = await drive(tools, asks);
  await query.shell.waitFor("more:", 20_000);
  const { text } = await query.look();
  expect(text).toContain("[1;4'");
  expect(text).toMatch(/more:$/m);
});

test.each([
  ["the position of the cursor", "\\033[6n", ["R"], "^[[1;1"],
  ["the state of the terminal", "\\033[5n", ["n"], "^[[0"],
  ["the kind of the terminal", "\\033[c", ["c"], "^[[?1;2"],
  ["a mode", "\\033[?2004$p", ["y"], "^[[?2004;2$"],
  ["the color of text", "\\033]10;?\\007", ["\\"], "^[]10;rgb:ffff/ffff/ffff^["],
  ["the color of the background", "\\033]11;?\\033\\\\", ["\\"], "^[]11;rgb:0000/0000/0000^["],
  [
    "two colors at once",
    "\\033]10;?;?\\007",
    ["\\", "\\"],
    "^[]10;rgb:ffff/ffff/ffff^[^[]11;rgb:0000/0000/0000^[",
  ],
])("a program that asks for %s gets one answer", async (_what, query, ends, answer) => {
  const reads = ends.map((end) => `IFS= read -rsd '${end}' -t 20 one; text+=$one`);
  const asks = `stty raw -echo; printf '${query}'; ${reads.join("; ")}; IFS= read -rsn 1 -t 1 more; stty sane; printf '%s.%s.' "$text" "$more" | cat -v; echo; echo end; read -r`;
  const shell = await drive(make(TERMINALS), asks, {}, APPROVED, 0);
  await shell.shell.waitFor("end", 60_000);
  expect((await shell.look()).text).toBe(`${answer}..\nend`);
});
