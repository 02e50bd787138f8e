// The profile of a session is sourced once, before the first command.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { openSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();

describe("a profile", () => {
  test("is sourced once, and the environment is sanitized afterwards", async () => {
    const dir = shells.directory();
    const profile = join(dir, "profile");
    writeFileSync(
      profile,
      "echo sourced >>count; echo noise; export KEEP=1 LD_PRELOAD=/x GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz PAGER=less\nalias hi='echo hello'\nf() { echo f; }\nread -r x\n",
    );
    const { run, say } = openSession(shells, {}, { workingDir: dir, profile });
    expect(await say(`echo $KEEP \${LD_PRELOAD-none} \${GITHUB_TOKEN-none} $PAGER; hi; f`)).toBe(
      "1 none none cat\nhello\nf",
    );
    await run("exit 1");
    expect(await say(`echo $KEEP \${LD_PRELOAD-none}; hi; cat count`)).toBe("1 none\nhello\nsourced");
  });

  test("can consist of the startup files of a login shell", async () => {
    const home = shells.directory();
    writeFileSync(join(home, ".profile"), "export FROM=profile");
    writeFileSync(join(home, ".bash_login"), "export FROM=bash_login; alias ll='echo listed'");
    const environment = { set: { HOME: home } };
    const { say } = openSession(shells, { environment }, { profile: "login" });
    expect(await say("echo $FROM; ll")).toBe("bash_login\nlisted");
  });

  test("that cannot be read is refused when the session is created", () => {
    const manager = shells.manager();
    const workingDir = shells.directory();
    expect(() => manager.session("x", { workingDir, profile: join(workingDir, "none") })).toThrow(
      `The session's profile cannot be read: ${workingDir}/none`,
    );
  });

  test("that ends bash is skipped, with a note", async () => {
    const dir = shells.directory();
    const profile = join(dir, "profile");
    writeFileSync(profile, "export HALF=1\nexit 7\n");
    const { run } = openSession(shells, {}, { workingDir: dir, profile });
    const first = await run("echo usable");
    expect(first).toMatchObject({ exitCode: 0, out: "usable\n", restarted: true });
    expect(first.notes).toEqual([expect.stringContaining(`profile (${profile}) ended its bash`)]);
    expect(await run("echo again")).toMatchObject({ out: "again\n", notes: [], restarted: false });
  });

  test("that takes too long is skipped, with a note, and none of its processes keeps running", async () => {
    const dir = shells.directory();
    const profile = join(dir, "profile");
    const mark = new Mark();
    writeFileSync(profile, `export HALF=1\nsleep ${mark.next()}\n`);
    const options = { workingDir: dir, profile, profileTimeoutMs: 300 };
    const { run } = openSession(shells, {}, options);
    const first = await run(`echo \${HALF-none}`);
    expect(first).toMatchObject({ exitCode: 0, out: "none\n", restarted: true });
    expect(first.notes).toEqual([
      expect.stringContaining(`profile (${profile}) ended its bash, or took too long`),
    ]);
    await eventually(() => expect(mark.processes()).toEqual([]));
    expect(await run("echo again")).toMatchObject({ out: "again\n", notes: [], restarted: false });
  });

  test("does not delay the closing of the session", async () => {
    const dir = shells.directory();
    const profile = join(dir, "profile");
    writeFileSync(profile, "echo $$ >pid\nsleep 300\n");
    const { session } = openSession(shells, {}, { workingDir: dir, profile, profileTimeoutMs: 600_000 });
    const running = session.run("echo unreached");
    await eventually(() => expect(readFileSync(join(dir, "pid"), "utf8")).toMatch(/\n/));
    await session.close();
    expect((await running).outcome?.kind).toBe("killed");
    expect(isAlive(Number(readFileSync(join(dir, "pid"), "utf8")))).toBe(false);
  });

  test("applies even to a shell that is started before the first command", async () => {
    const dir = shells.directory();
    const profile = join(dir, "profile");
    writeFileSync(profile, "export FROM=profile; f() { echo f; }");
    const { session } = openSession(shells, {}, { workingDir: dir, profile });
    const shell = await session.start("echo $FROM; f");
    await shell.wait(10_000);
    expect(shell.getAllOutput()).toBe("profile\nf\n");
  });

  test("is not sourced by default", async () => {
    const { say } = openSession(shells);
    expect(await say("echo $-; shopt -q login_shell || echo none")).toMatch(/none$/);
  });
});
