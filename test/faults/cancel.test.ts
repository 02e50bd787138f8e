// A cancel lets the traps of a command run and starts no further step. It returns only when no process of the
// command is left. With NACRE_LONG=1, the tests cancel 200 commands at random moments.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ShellManager } from "../../src/shell-manager.ts";
import { isLong } from "../fixtures/long.ts";
import { Mark } from "../fixtures/marked.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { openSession, said } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });
const CANCELS = isLong ? 200 : 8;

const GRACEFUL = `node -e 'process.on("SIGINT", () => process.exit(0)); setInterval(() => {}, 1e6); require("fs").writeFileSync("ready", "")'`;

/** Each command writes `marker` if its next step starts after the cancel. S stands for a long sleep. */
const COMMANDS: readonly (readonly [string, string])[] = [
  ["a background list", "(S; touch marker) & touch ready; S"],
  ["a background list alone", "(touch ready; S; touch marker) & wait"],
  ["a list in a list", "( (S; touch marker) & S; touch marker ) & touch ready; S"],
  ["a list after a list", "(S && :; S || touch marker; touch marker) & touch ready; S; touch marker"],
  ["a coprocess", "coproc { S; touch marker; }; touch ready; S"],
  ["a process substitution", "exec 5> >(S; touch marker); touch ready; S"],
  ["nohup", "nohup bash -c 'S; touch marker' & touch ready; S"],
  ["a separate session", "setsid bash -c 'S; touch marker' & touch ready; S"],
  ["an orphan", "(setsid bash -c 'touch ready; S; touch marker' &); S"],
  ["job control", "set -m; touch ready; S; touch marker"],
  ["xargs", "touch ready; printf 'S\\ntouch marker\\n' | xargs -d '\\n' -n1 bash -c"],
  ["find", "touch a ready; find a ready -exec bash -c 'S; touch marker' ';'"],
  [
    "a script that continues after a child dies",
    "perl -e 'open F, q(>ready); system(q(S)); open F, q(>marker)'",
  ],
  ["a program that handles INT, and the command after it", `${GRACEFUL}; touch marker`],
  ["a program that handles INT, and a command after &&", `${GRACEFUL} && touch marker`],
  [
    "a script around a program that handles INT",
    `bash -c '${GRACEFUL.replaceAll("'", `'\\''`)}; touch marker'`,
  ],
  ["a list that ignores TERM", "(trap '' TERM; S; touch marker) & touch ready; S"],
  ["a list that ignores everything", "(trap '' INT TERM HUP; S; touch marker) & touch ready; S"],
  [
    "a program that ignores everything",
    "perl -e '$SIG{INT}=$SIG{TERM}=q(IGNORE); open F, q(>ready); system(q(S)); open F, q(>marker)' & S",
  ],
  ["a list with its own lock limit", "(ulimit -Sx 77777; touch ready; S; touch marker) & S"],
];

function lengthen(command: string, mark: Mark): string {
  return command.replaceAll(/\bS\b/g, () => `sleep ${mark.next()}`);
}

async function whenReady(dir: string): Promise<void> {
  await eventually(() => expect(existsSync(join(dir, "ready"))).toBe(true));
}

describe("an interrupt in a session", () => {
  test.each(COMMANDS)("ends %s before its next step", async (_, command) => {
    const mark = new Mark();
    const opened = openSession(shells);
    const running = opened.session.run(lengthen(command, mark));
    await whenReady(opened.dir);
    await opened.session.interrupt();
    expect(mark.processes()).toEqual([]);
    expect((await running).outcome).toMatchObject({ kind: "aborted" });
    expect(existsSync(join(opened.dir, "marker"))).toBe(false);
    expect(await opened.say("test -e marker || echo usable")).toBe("usable");
  });

  test("lets the traps of background lists finish", async () => {
    const mark = new Mark();
    const opened = openSession(shells, { killGraceMs: 10_000 });
    const running = opened.session.run(
      lengthen(
        "(trap 'touch left' EXIT; touch armed; S) & until [[ -e armed ]]; do sleep 0.02; done; (trap 'sleep 0.2; touch cleaned; exit' TERM; touch ready; S) & S",
        mark,
      ),
    );
    await whenReady(opened.dir);
    await opened.session.interrupt();
    expect(readdirSync(opened.dir).sort()).toEqual(["armed", "cleaned", "left", "ready"]);
    await running;
    expect(mark.processes()).toEqual([]);
  });

  test("lets a trap on INT that runs programs finish", async () => {
    const mark = new Mark();
    const opened = openSession(shells, { killGraceMs: 10_000 });
    const running = opened.session.run(
      lengthen("trap 'sleep 0.3; echo cleaned; exit 7' INT; touch ready; S; touch marker", mark),
    );
    await whenReady(opened.dir);
    await opened.session.interrupt();
    expect(said(await running)).toMatchObject({ exitCode: 7, out: "cleaned\n" });
    expect(existsSync(join(opened.dir, "marker"))).toBe(false);
  });

  test("does not end processes that earlier commands left running", async () => {
    const mark = new Mark();
    const opened = openSession(shells);
    const earlier = mark.next();
    await opened.run(`(sleep ${earlier}; touch marker) &`);
    const running = opened.session.run(`touch ready; sleep ${mark.next()}`);
    await whenReady(opened.dir);
    await opened.session.interrupt();
    await running;
    expect(mark.processes(`sleep ${earlier}`)).toHaveLength(1);
    expect(mark.processes()).toHaveLength(1);
  });
});

describe("an interrupt of a standalone shell", () => {
  test.each(COMMANDS)("ends %s before its next step", async (_, command) => {
    const mark = new Mark();
    const dir = shells.directory();
    const shell = await shells.manager().createShell({ command: lengthen(command, mark), workingDir: dir });
    await whenReady(dir);
    await shell.interrupt();
    expect(mark.processes()).toEqual([]);
    expect(shell.isRunning).toBe(false);
    expect(existsSync(join(dir, "marker"))).toBe(false);
  });
});

/**
 * The parts of these commands constantly start, write and exit, so random cancels hit each of these moments.
 */
const BUSY = [
  "(sleep 0.0%; echo > m.$BASHPID) & sleep 60",
  "for i in {1..30}; do (sleep 0.0%; echo > m.$BASHPID) & done; sleep 60",
  "while :; do sleep 0.00%; echo >> m.$BASHPID; done & while :; do sleep 0.00%; echo >> m.$BASHPID; done",
  "setsid bash -c 'while :; do /bin/true; echo >> m.$$; done' & coproc { sleep 0.0%; echo > m.$BASHPID; }; sleep 60",
  "seq 500 | xargs -n1 -P4 bash -c 'sleep 0.00%; echo > m.$$' bash & sleep 0.0%; touch m.$$; sleep 60",
  "(trap 'echo >> m.$BASHPID' INT TERM; while :; do sleep 0.00%; done) & sleep 0.01; echo > m.$$; sleep 60",
];

/** Cancels each command at a random moment. Returns the commands that wrote a file after their cancel. */
async function cancelAtRandom(manager: ShellManager, dir: string, count: number): Promise<string[]> {
  const writtenLate: string[] = [];
  let before: { readonly command: string; readonly files: string } | undefined;
  const check = () => {
    if (before !== undefined && filesIn(dir) !== before.files) writtenLate.push(before.command);
  };
  for (let cancels = 0; cancels < count; cancels++) {
    const template = BUSY[cancels % BUSY.length] ?? "";
    const command = template.replaceAll("%", () => String(1 + Math.floor(Math.random() * 8)));
    const session = manager.session(`cancels ${cancels % 4}`, { workingDir: dir });
    check();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), Math.random() * 60);
    const { outcome } = await session.run(command, { signal: abort.signal });
    before = { command, files: filesIn(dir) };
    expect(outcome).toMatchObject({ kind: "aborted" });
    // Run another command in the session: this gives any process that survived the cancel enough time to write.
    if (cancels % 10 === 9) await session.run("sleep 0.05");
  }
  await manager.session("last", { workingDir: dir }).run("sleep 0.2");
  check();
  return writtenLate;
}

function filesIn(dir: string): string {
  const names = readdirSync(dir).filter((name) => name.startsWith("m."));
  return names.map((name) => `${name} ${statSync(join(dir, name)).size}`).join("\n");
}

test(`${CANCELS} commands cancelled at random moments write nothing afterwards`, async () => {
  expect(await cancelAtRandom(shells.manager(), shells.directory(), CANCELS)).toEqual([]);
}, 600_000);

describeSandboxed("in a sandbox", () => {
  test(`${CANCELS} commands cancelled at random moments write nothing afterwards`, async () => {
    const dir = shells.directory();
    const manager = shells.manager({ sandbox: "workspace-write" });
    expect(await cancelAtRandom(manager, dir, CANCELS)).toEqual([]);
  }, 600_000);
});
