import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isAlive } from "../fixtures/processes.ts";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();
const inSession = (command: string, ...words: string[]) =>
  nacre("run", "--session", "work", ...words, command);

test("a named session continues from its last command, even if another process ran that command", async () => {
  mkdirSync(join(dir(), "api"));
  const first = await inSession(
    `cd ${join(dir(), "api")}; export PORT=80; greet() { echo "hi $1"; }; plain=(a b)`,
  );
  expect(first).toEqual({ code: 0, stdout: "", stderr: "" });
  const second = await inSession('pwd; echo "$PORT"; declare -p plain; greet you; set -u; false');
  expect(second).toMatchObject({
    code: 1,
    stdout: `${join(dir(), "api")}\n80\ndeclare -a plain=([0]="a" [1]="b")\nhi you\n`,
  });
  expect((await inSession("echo $-")).stdout).toContain("u");
});

test("other sessions are independent, and --cwd changes the directory", async () => {
  await inSession("export PORT=80");
  expect((await nacre("run", "--session", "other", "echo [$PORT]")).stdout).toBe("[]\n");
  expect((await inSession("pwd", "--cwd", "/")).stdout).toBe("/\n");
  expect((await inSession("pwd")).stdout).toBe("/\n");
});

test("exit codes, errors and output pass through, and the state survives an exit and a timeout", async () => {
  await inSession("kept=yes");
  const ended = await inSession("echo out; echo err >&2; exit 7");
  expect(ended).toMatchObject({ code: 7, stdout: "out\n" });
  expect(ended.stderr).toMatch(/^err\n/);
  expect((await inSession("echo $kept")).stdout).toBe("yes\n");
  expect((await inSession("sleep 300", "--timeout", "200ms")).code).toBe(124);
  expect((await inSession("echo $kept")).stdout).toBe("yes\n");
});

test("only ps --all lists the ended bash of a session", async () => {
  await inSession("true");
  expect(await nacre("ps")).toMatchObject({
    stdout: "",
    stderr: "No shell is running.\n1 more ended earlier: nacre ps --all\n",
  });
  expect((await nacre("ps", "--all")).stdout).toContain('# session "work"');
  // A background shell from a session is listed like any other.
  const { stdout: id } = await inSession("exit 3", "-b");
  expect((await nacre("wait", id.trim())).code).toBe(3);
  expect((await nacre("ps")).stdout).toMatch(/^shell_\w+ +failed \(3\) .* exit 3$/m);
});

test("concurrent commands of one session run one after the other", async () => {
  const results = await Promise.all([1, 2, 3].map((n) => inSession(`seen+=${n}; echo "$seen"`)));
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ""],
    [0, expect.any(String)],
    [0, expect.any(String)],
  ]);
  const longest = results.map(({ stdout }) => stdout.trim()).sort((a, b) => b.length - a.length)[0] ?? "";
  expect([...longest].sort().join("")).toBe("123");
});

test("a session takes over the lock of a dead process; a damaged state file costs only the state", async () => {
  await inSession("kept=yes");
  writeFileSync(join(dir(), "state/sessions/work.lock"), "999999999 1");
  expect((await inSession("echo $kept")).stdout).toBe("yes\n");
  writeFileSync(join(dir(), "state/sessions/work.json"), "{");
  expect(await inSession("echo [$kept]")).toMatchObject({ code: 0, stdout: "[]\n" });
  expect(readFileSync(join(dir(), "state/sessions/work.json"), "utf8")).toContain('"cwd"');
});

test("the policy judges the command in the session's directory", async () => {
  await inSession("cd /");
  expect(await inSession("rm -rf etc")).toMatchObject({ code: 4, stdout: "" });
});

test("--json prints the flat result of a command in the session, and the session keeps its state", async () => {
  await inSession("cd /; export PORT=80");
  const { code, stdout, stderr } = await inSession("pwd; echo $PORT; cd usr; kept=yes; false", "--json");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    output: "/\n80\n",
    exit_code: 1,
    cwd: "/usr",
    error_code: "exit_nonzero",
  });
  expect((await inSession("pwd; echo $kept")).stdout).toBe("/usr\nyes\n");
  const moved = await inSession("pwd", "--json", "--cwd", dir());
  expect(JSON.parse(moved.stdout).output).toBe(`${dir()}\n`);
  expect((await inSession("pwd")).stdout).toBe(`${dir()}\n`);
  await inSession("cd /");
  const refused = await inSession("rm -rf etc", "--json");
  expect(refused.code).toBe(4);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error_code: "policy_denied" });
});

test("-b gives its shell the session's directory, exports and functions, and does not change the session", async () => {
  await inSession(`mkdir api; cd api; export PORT=80; plain=no; greet() { echo "hi $1"; }`);
  const command = 'pwd; echo "$PORT [$plain]"; greet you; cd /; export PORT=81; sleep 300';
  const { code, stdout } = await inSession(command, "-b", "--timeout", "5m");
  expect(code).toBe(0);
  const id = stdout.trim();
  expect((await nacre("wait", id, "--for", "^hi you", "--timeout", "20s")).code).toBe(0);
  expect((await nacre("output", id)).stdout).toBe(`${dir()}/api\n80 []\nhi you\n`);
  expect((await inSession("pwd; echo $PORT")).stdout).toBe(`${dir()}/api\n80\n`);
  expect(JSON.parse((await nacre("ps", "--json")).stdout).shells).toContainEqual(
    expect.objectContaining({ id, session: "work", status: "running", cwd: `${dir()}/api` }),
  );
  const json = JSON.parse((await inSession("greet json", "-b", "--json")).stdout);
  expect((await nacre("wait", json.bash_id)).code).toBe(0);
  expect((await nacre("output", json.bash_id)).stdout).toBe("hi json\n");
  const elsewhere = (await inSession("pwd", "-b", "--cwd", "/")).stdout.trim();
  await nacre("wait", elsewhere);
  expect((await nacre("output", elsewhere)).stdout).toBe("/\n");
  await inSession("cd /");
  expect((await inSession("rm -rf etc", "-b")).code).toBe(4);
  expect((await nacre("kill", id)).code).toBe(0);
});

test("-b lists the functions that it does not inherit because bash cannot read their definitions back", async () => {
  await inSession("f() { cat <<X\n}\nzz () \n{ \n    :\n}\nX\n}\nzz() { echo zz; }");
  const named = /Not inherited from the session, .*: function f, function zz\./;
  expect((await inSession("true", "-b")).stderr).toMatch(named);
  const { notes } = JSON.parse((await inSession("true", "-b", "--json")).stdout);
  expect(notes).toEqual([expect.stringMatching(named)]);
});

test("-b does not wait for the command that runs in the session", async () => {
  await inSession("export PORT=80");
  const running = inSession("touch here; while [ -e here ]; do sleep 0.02; done; echo done");
  await eventually(() => expect(existsSync(join(dir(), "here"))).toBe(true));
  const id = (await inSession("echo $PORT", "-b")).stdout.trim();
  await nacre("wait", id);
  expect((await nacre("output", id)).stdout).toBe("80\n");
  rmSync(join(dir(), "here"));
  expect(await running).toMatchObject({ code: 0, stdout: "done\n" });
});

test("--mode also sets the timeout of a command in a session", async () => {
  await inSession("export PORT=80");
  expect(await inSession("echo $PORT", "--mode", "slow")).toMatchObject({ code: 0, stdout: "80\n" });
  expect(JSON.parse((await inSession("echo $PORT", "--mode", "slow", "--json")).stdout)).toMatchObject({
    output: "80\n",
    exit_code: 0,
  });
  const id = (await inSession("echo $PORT", "--mode", "background")).stdout.trim();
  await nacre("wait", id);
  expect((await nacre("output", id)).stdout).toBe("80\n");
});

test("--dry-run judges the command in the session's directory, and does not change the session", async () => {
  await inSession("cd /; kept=yes");
  expect((await inSession("rm -rf etc", "--dry-run")).code).toBe(4);
  expect((await inSession("rm -rf etc", "--dry-run", "--json")).code).toBe(4);
  const { stdout } = await inSession("cd /usr; kept=no", "--dry-run");
  expect(stdout).toBe("[Dry Run] Would execute: cd /usr; kept=no\n");
  expect((await inSession("pwd; echo $kept")).stdout).toBe("/\nyes\n");
});

test("nacre names and ends the leftovers of a command in a session", async () => {
  const { code, stdout, stderr } = await inSession("sleep 1000 & echo $!");
  expect(code).toBe(0);
  expect(stderr).toContain(`nacre: ending a leftover process: sleep 1000 (pid ${stdout.trim()})\n`);
  await eventually(() => expect(isAlive(Number(stdout))).toBe(false));
});

test("a session keeps its first environment mode, and refuses any other mode", async () => {
  vi.stubEnv("HARMLESS", "here");
  expect((await inSession("echo [$HARMLESS]", "--env-mode", "none")).stdout).toBe("[]\n");
  expect((await inSession("echo [$HARMLESS]")).stdout).toBe("[]\n");
  expect((await inSession("echo [$HARMLESS]", "--env-mode", "none")).code).toBe(0);
  for (const form of [[], ["-b"], ["--json"], ["--dry-run"]]) {
    const other = await inSession("echo ran", "--env-mode", "all", ...form);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain("Session work was started with --env-mode none");
    expect(other.stdout).not.toContain("ran\n");
  }
});

test("a state that cannot be saved does not change the exit code", async () => {
  await inSession("kept=yes");
  // The command creates a directory at the path of nacre's temporary file.
  const { code, stdout, stderr } = await inSession(
    `kept=no; echo out; mkdir -p ${join(dir(), "state/sessions")}/work.json.${process.pid}; (exit 7)`,
    // Without this option, writing to the state directory needs approval.
    "--policy",
    "off",
  );
  expect({ code, stdout }).toEqual({ code: 7, stdout: "out\n" });
  expect(stderr).toMatch(
    /The session cannot be saved in .+work.json: .+ starts from the state before this command/,
  );
  expect((await inSession("echo $kept")).stdout).toBe("yes\n");
});

test("invalid names and conflicting options are explained", async () => {
  expect((await nacre("run", "--session", "../x", "true")).stderr).toContain(
    "cannot be the name of a session. Start with a letter or digit, continue with letters, digits, dots, dashes",
  );
  const stdin = await inSession("cat", "--stdin");
  expect(stdin).toMatchObject({ code: 2, stdout: "" });
  expect(stdin.stderr).toMatch(
    /^nacre: --stdin does not work with --session: .+ Write the input to a file .+\n$/,
  );
  const durable = await inSession("true", "--durable");
  expect(durable).toMatchObject({ code: 2, stdout: "" });
  expect(durable.stderr).toMatch(/^nacre: --durable does not work with --session: .+ Use -b, .+\n$/);
  const json = await nacre("run", "--json", "--durable", "true");
  expect(json.stderr).toMatch(/^nacre: --durable does not work with --json: .+ Use -b, .+\n$/);
});
