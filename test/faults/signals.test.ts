import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, run, directory } = useShells();

/** The output of the same command when a plain bash reads it from a file. */
function plain(command: string): string {
  const file = join(directory(), "cmd");
  writeFileSync(file, command);
  const { SHLVL: _, ...env } = process.env;
  return execFileSync("bash", [file], {
    cwd: "/",
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function stateOf(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat[stat.lastIndexOf(")") + 2];
}

// Compare only bash's ignored signals: its blocked and caught signals change while it waits for grep.
const MASKS = "grep -E '^Sig(Blk|Ign)' /proc/self/status; grep -E '^SigIgn' /proc/$$/status";

test("a command and its children start with no signal ignored or blocked, as in a plain bash", async () => {
  const shell = await run(manager(), MASKS, { workingDir: "/" });
  expect(shell.getAllOutput()).toBe(plain(MASKS));
  expect(shell.getAllOutput()).toMatch(/^SigBlk:\t0{16}\nSigIgn:\t0{16}\n/);
});

test("a shell with unusual options starts with the same signals as a default shell", async () => {
  const shells = manager();
  const odd = await run(shells, MASKS, {
    env: { BULK: "x".repeat(50_000) },
    streams: "merged",
    capBytes: 1024 ** 2,
  });
  expect(odd.getAllOutput()).toBe((await run(shells, MASKS)).getAllOutput());
});

test.each(["INT", "QUIT", "TERM", "HUP", "PIPE", "USR1"])("a trap for %s runs", async (name) => {
  const shell = await run(manager(), `trap 'echo caught; exit 3' ${name}; kill -${name} $$; echo after`);
  expect(shell.exitCode).toBe(3);
  expect(shell.getAllOutput()).toBe("caught\n");
});

test("an interrupt from outside reaches the whole group of the command, and its trap runs", async () => {
  const shell = await manager().createShell({
    command: "trap 'echo caught; exit 4' INT; echo up; sleep 300; echo not reached",
    workingDir: "/",
  });
  await shell.waitFor({ pattern: /^up$/ }, 10_000);
  await shell.sendSignal("SIGINT");
  expect(await shell.wait(10_000)).toBe(4);
  expect(shell.getAllOutput()).toBe("up\ncaught\n");
  expect(await shell.leftovers()).toEqual([]);
});

test("a closed pipe ends its writer without a message", async () => {
  const shell = await run(manager(), "set -o pipefail; yes | head -n 1; echo $?");
  expect(shell.getAllOutput()).toBe("y\n141\n");
  expect(shell.exitCode).toBe(0);
});

test("a signal that the command ignores is ignored by its children", async () => {
  const shell = await run(manager(), "trap '' TERM; bash -c 'kill -TERM $$; echo alive'");
  expect(shell.getAllOutput()).toBe("alive\n");
});

test("the command leads its own process group, separate from its shim", async () => {
  const command = "cut -d ' ' -f 1,5,6,7 /proc/$$/stat";
  const shell = await run(manager(), command);
  const [pid, group, session, terminal] = shell.getAllOutput().trim().split(" ").map(Number);
  expect(group).toBe(pid);
  expect(pid).toBe(shell.started.commandPid);
  expect(session).not.toBe(process.pid);
  expect(terminal).toBe(0);
});

test("job control in a command works as in a plain bash", async () => {
  const command = "echo $-; set -m; sleep 0 & wait $!; echo $?; jobs; kill -STOP $$; echo on";
  const shell = await manager().createShell({ command, workingDir: "/" });
  await shell.waitFor({ pattern: /^0$/ }, 10_000);
  // A stopped command has not ended: it continues after SIGCONT.
  await eventually(() => expect(stateOf(shell.started.commandPid)).toBe("T"));
  await expect(shell.wait(100)).rejects.toThrow(/still running/);
  await shell.sendSignal("SIGCONT");
  expect(await shell.wait(10_000)).toBe(0);
  expect(shell.getAllOutput()).toBe(`${plain("echo $-")}0\non\n`);
});

test("a command sees the same shell settings as a plain bash", async () => {
  const dir = directory();
  const script =
    'echo "$SHLVL|$#|$*|$-|$SHELLOPTS|$(umask)|$PPID" | sed "s/[0-9]*$//"; shopt -s | tr "\\n" " "; ' +
    "declare -F; alias; trap; jobs; ulimit -Sn; ulimit -f; [[ -t 0 ]]; echo $?; cat";
  const shell = await run(manager(), script, { workingDir: dir });
  expect(shell.getAllOutput()).toBe(plain(script));
});
