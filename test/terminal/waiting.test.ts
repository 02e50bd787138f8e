// nacre reports what a program waits for. A program that does not wait for input is never reported as
// waiting, whatever it prints.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { isLong } from "../fixtures/long.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory } = useShells();

/** The number of runs of each program below, and the number of runs at the same time. */
const RUNS = isLong ? 100 : 1;
const AT_ONCE = 4;

/** Each program runs long enough for several polls, and prints something that looks like a question. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "a sleep after a prompt": "printf 'up\\nPassword: '; sleep 1000",
  "a server": `node -e 'require("http").createServer().listen(0, () => process.stdout.write("up\\n> "))'`,
  "a server in Python": `python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print("up\\n> ", end="", flush=True); s.accept()'`,
  "a server that a runner starts": `bash -c 'node -e "setInterval(() => {}, 50); process.stdout.write(\\"up\\\\n> \\")" & wait'`,
  "a busy loop": "echo up; printf 'Continue? [y/N] '; while :; do :; done",
  "a compile": "echo up; for i in 1 2 3 4 5; do cc -O2 -o out$$ big.c; done; sleep 1000",
  "a pipe": "printf 'up\\n> '; sleep 1000 | cat",
  "a program that reads a pipe": `printf 'up\\n? '; sleep 1000 | node -e 'process.stdin.on("data", () => {})'`,
  "a child in the background that reads": "set -m; cat & printf 'up\\n> '; sleep 1000",
  "a reader that a signal has stopped":
    "set -m; cat & while [[ $(ps -o state= $!) != T ]]; do :; done; printf 'up\\n> '; sleep 1000",
  "a wait for a file lock": "exec 9>lock$$; flock 9; printf 'up\\n> '; flock lock$$ true",
  "a wait for a child": "printf 'up\\n> '; sleep 1000 & wait",
  "a wait for a fifo": "mkfifo f$$; printf 'up\\n> '; read -r x <f$$",
  "a sleep in a terminal inside the terminal": "script -qec \"printf 'up\\n> '; sleep 1000\" /dev/null",
  "a sleep two terminals further inside": `script -qec "script -qec 'echo up; sleep 1000' /dev/null" /dev/null`,
  "a poll without the terminal": `python3 -c 'import select; print("up\\n> ", end="", flush=True); select.select([], [], [], 1000)'`,
};

test.each(Object.entries(PROGRAMS))(
  "%s is not reported as waiting for input",
  async (_name, command) => {
    const dir = directory();
    const shells = manager({ killGraceMs: 50 });
    const source = Array.from({ length: 300 }, (_, index) => `int f${index}(int x) { return x * ${index}; }`);
    writeFileSync(join(dir, "big.c"), `${source.join("\n")}\nint main() { return 0; }\n`);
    const run = async () => {
      const shell = await shells.createShell({ command, workingDir: dir, terminal: true });
      await shell.waitFor("up", 60_000);
      const seen = await pollWaiting(shell);
      await shell.kill();
      return seen;
    };
    for (let runs = 0; runs < RUNS; runs += AT_ONCE) {
      const all = await Promise.all(Array.from({ length: Math.min(AT_ONCE, RUNS - runs) }, run));
      expect(all.flat().filter((waiting) => waiting !== "no")).toEqual([]);
    }
  },
  300_000,
);

async function pollWaiting(shell: ShellProcess): Promise<string[]> {
  const seen: string[] = [];
  for (let count = 0; count < 10; count++) {
    seen.push((await shell.screen()).waiting);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return seen;
}

/** Reads a line from a process that the kernel hides from other processes of the user, as sudo does. */
const PROTECTED = `python3 -c 'import ctypes; ctypes.CDLL(None).prctl(4, 0); input()'`;
const isRoot = process.getuid?.() === 0;

const READERS: Readonly<Record<string, readonly [command: string, waiting: string]>> = {
  "a line": ["read -r x", "line"],
  "a line, with a timeout": ["read -rt 1000 x", "line"],
  cat: ["cat", "line"],
  "a single byte of a line": ["dd bs=1 count=1 status=none", "line"],
  "a choice of select": ["select x in a b; do :; done", "line"],
  "a key": ["read -rn1 x", "key"],
  "a secret": ["read -rs x", "secret"],
  "a secret from /dev/tty": ["read -rs x </dev/tty", "secret"],
  "a secret, although stdin is a pipe": ["sleep 1000 | read -rs x </dev/tty", "secret"],
  "a line of Python": ["python3 -c 'input()'", "line"],
  "a line of a thread of Python": [
    `python3 -c 'import threading; t = threading.Thread(target=input); t.start(); t.join()'`,
    "line",
  ],
  "a secret of Python": ["python3 -c 'import getpass; getpass.getpass()'", "secret"],
  "a line that is polled for in Python": [
    "python3 -c 'import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()'",
    "line",
  ],
  "a line of Node, which polls": [`node -e 'process.stdin.once("data", () => {})'`, "line"],
  "a key of Node, which polls": [`node -e 'process.stdin.setRawMode(true); process.stdin.resume()'`, "key"],
  "a prompt of bash": ["bash --norc --noprofile", "key"],
  "a prompt of a shell without a line editor": ["sh", "line"],
  "a child of a child": ["bash -c 'bash -c \"read -r x; true\"; true'; true", "line"],
  "a line in a terminal inside the terminal": ["script -qec 'read -r x' /dev/null", "line"],
  "a key, with a job in another terminal": [
    `set -m; script -qec 'touch up; read -rs x' /dev/null < <(sleep 1000) >/dev/null & until [[ -e up ]]; do :; done; read -rn1 x`,
    "key",
  ],
  "a line, after another process has turned off the echo": [
    "{ sleep 1; stty -echo; } </dev/tty & cat",
    "secret",
  ],
  "a server that reads keys": [
    `node -e 'require("http").createServer().listen(0); process.stdin.setRawMode(true); process.stdin.resume()'`,
    "key",
  ],
  "a server that reads lines, but may wait for a connection": [
    `node -e 'require("http").createServer().listen(0); process.stdin.resume()'`,
    "maybe",
  ],
  "a spinner that reads keys but continues without them": [
    `node -e 'process.stdin.setRawMode(true); process.stdin.resume(); setInterval(() => {}, 80)'`,
    "maybe",
  ],
  "a line of a process that only root may examine": [PROTECTED, isRoot ? "line" : "maybe"],
  "a secret of a process that only root may examine": [`stty -echo; ${PROTECTED}`, "secret"],
};

test.each(Object.entries(READERS))("the wait is reported: %s", async (_name, [command, waiting]) => {
  const shell = await manager({ killGraceMs: 50 }).createShell({
    command,
    workingDir: directory(),
    terminal: true,
  });
  await eventually(async () => expect((await shell.screen()).waiting).toBe(waiting), 20_000);
  // Check that the state is stable: for a moment, a program that starts can seem to wait in another way.
  if (waiting !== "maybe") expect(new Set(await pollWaiting(shell))).toEqual(new Set([waiting]));
});

test("after Ctrl-Z, the shell waits for input, not the stopped program", async () => {
  const shell = await manager({ killGraceMs: 50 }).createShell({
    command: "PS1='$ ' bash --norc --noprofile",
    workingDir: directory(),
    terminal: true,
  });
  await shell.waitFor("$ ", 20_000);
  await shell.write("cat\n");
  await eventually(async () => expect((await shell.screen()).waiting).toBe("line"), 20_000);
  await shell.press("Ctrl-Z");
  await shell.waitFor("Stopped", 20_000);
  await eventually(async () => expect((await shell.screen()).waiting).toBe("key"), 20_000);
});

test("a stopped program in the foreground is not reported as waiting", async () => {
  const shell = await manager({ killGraceMs: 50 }).createShell({
    command: `echo "pid $$."; read -r x`,
    workingDir: directory(),
    terminal: true,
  });
  await eventually(async () => expect((await shell.screen()).waiting).toBe("line"), 20_000);
  await shell.waitFor({ pattern: /pid \d+\./ }, 20_000);
  // NaN throws. 0 would stop the process group of the tests.
  const pid = /pid (\d+)\./.exec(shell.getAllOutput())?.[1] ?? "NaN";
  process.kill(Number(pid), "SIGSTOP");
  await eventually(async () => expect((await shell.screen()).waiting).toBe("no"), 20_000);
  execFileSync("kill", ["-CONT", pid]);
  await eventually(async () => expect((await shell.screen()).waiting).toBe("line"), 20_000);
});
