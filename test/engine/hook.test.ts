// A command sees the same environment as in a plain `bash FILE`: nacre's bash programs leave no trace in it.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readStat } from "../../src/engine/process-table.ts";
import type { CreateShellOptions } from "../../src/shell/manager-options.ts";
import type { ShellManager } from "../../src/shell-manager.ts";
import { BASH } from "../fixtures/keepers.ts";
import { loggerPids } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();
const environment = { mode: "none", exclude: ["*"], set: { PATH: "/usr/bin:/bin", HOME: "/h" } } as const;

async function output(
  shells: ShellManager,
  command: string,
  options: Partial<CreateShellOptions> = {},
): Promise<string> {
  return (await run(shells, command, options)).getAllOutput();
}

/** The output of the same text in a bash without nacre. */
function plain(text: string, env: Readonly<Record<string, string>> = environment.set): string {
  const file = join(directory(), "cmd");
  writeFileSync(file, text);
  return execFileSync(BASH, [file], {
    cwd: tmpdir(),
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

describe("a command sees the same as in a plain bash", () => {
  test.each([
    ["variables", "compgen -v | sort"],
    ["exported variables", "env | sort | grep -v '^_='"],
    ["attributes of variables", "declare -p | sed 's/=.*//' | sort"],
    ["functions", "declare -F; declare -f"],
    ["options", "shopt; set -o; echo $-"],
    ["aliases, traps and jobs", "alias; trap -p; jobs -l; hash 2>&1"],
    ["umask", "umask"],
    [
      "limits except those that nacre uses as tag and key",
      "ulimit -aH | grep -vE 'file locks|max memory size'; ulimit -aS | grep -vE 'file locks|max memory size'",
    ],
    ["signals", "grep SigIgn /proc/$$/status; grep -E '^Sig(Ign|Blk)' /proc/self/status"],
    ["status, arguments and shell level", 'echo "$? $# [$*] $SHLVL $BASH_SUBSHELL $FUNCNAME $LINENO"'],
    [
      "its own name",
      'echo "$(basename "$0") $(basename "$BASH_SOURCE")"; [[ $0 == /* && $$ == "$BASHPID" ]] && echo yes',
    ],
    ["the previous directory in a child", "cd /; cd /usr; env | grep OLDPWD"],
    ["stdin", "readlink /proc/self/fd/0"],
    ["the internal field separator", 'printf %q "$IFS"'],
  ])("%s", async (_, text) => {
    // Start with a colon: bash sets variables at its first command, which would count as a difference.
    expect(await output(manager({ environment }), `:\n${text}`)).toBe(plain(`:\n${text}`));
  });
});

describe("a command", () => {
  test("leads its process group, runs its signal traps and starts with time 0", async () => {
    const shells = manager({ poolSize: 2 });
    await shells.warmUp();
    // Use a slot that has waited for more than a second.
    await eventually(() => {
      const ids = readdirSync(shells.root.shellsDir);
      const pids = ids.map((id) =>
        Number(readFileSync(shells.root.files(id).identity, "utf8").split(" ")[2]),
      );
      expect(pids).toHaveLength(2);
      for (const pid of pids) expect(ageSeconds(pid)).toBeGreaterThan(1.1);
    });
    const text = 'echo "$SECONDS $$"; trap "echo caught; exit 9" INT; kill -INT $$; echo not reached';
    const shell = await run(shells, text);
    expect(shell.getAllOutput()).toBe(`0 ${shell.started.commandPid}\ncaught\n`);
    expect(shell.exitCode).toBe(9);
  });

  test("has its three streams open and nothing else", async () => {
    expect(
      await output(manager(), "ls /proc/$$/fd; echo; ls -l /proc/self/fd | grep -c -e pipe: -e null"),
    ).toMatch(/^0\n1\n2\n255\n\n3\n$/);
  });

  test("leads its own process group, separate from its shim's", async () => {
    const shell = await manager().createShell({ command: "echo up; sleep 300", workingDir: tmpdir() });
    await shell.waitFor({ pattern: /up/ }, 10_000);
    const { commandPid, shimPid } = shell.started;
    expect(readStat(commandPid)).toMatchObject({ group: commandPid, parent: shimPid });
    expect(readStat(shimPid)?.group).not.toBe(commandPid);
  });

  test("has a shim and loggers whose names agents do not kill, and which have only their own files open", async () => {
    process.env["NACRE_TEST_SECRET_TOKEN"] = "of the host";
    const shells = manager({ environment });
    const shell = await shells
      .createShell({ command: "echo up; sleep 300", workingDir: tmpdir(), env: { OWN: "x" } })
      .finally(() => delete process.env["NACRE_TEST_SECRET_TOKEN"]);
    await shell.waitFor({ pattern: /up/ }, 10_000);
    const { shimPid, commandPid, files } = shell.started;
    const loggers = await loggerPids(shimPid);
    expect(comm(shimPid)).toBe("nacre-shim");
    for (const [index, pid] of loggers.entries()) {
      expect(comm(pid)).not.toMatch(/bash|cat/);
      const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
      expect(open).toEqual([
        expect.stringMatching(/^pipe:/),
        [files.stdout, files.stderr][index],
        "/dev/null",
      ]);
    }
    for (const pid of [shimPid, commandPid, ...loggers]) {
      const names = readFileSync(`/proc/${pid}/environ`, "utf8")
        .split("\0")
        .map((pair) => pair.split("=")[0] ?? "");
      const known = ["", "PATH", "HOME", "LC_ALL", "SHLVL", "_", "PWD", "BASH_ENV"];
      expect(names.filter((name) => !known.includes(name))).toEqual([]);
    }
  });

  test.each(["with space", "new\nline", "naïve 漢字 🐚", "-n", "--", "$(id)", "it's", "trailing\n"])(
    "runs in a directory called %j",
    async (name) => {
      const workingDir = join(directory(), name);
      mkdirSync(workingDir);
      writeFileSync(join(workingDir, "here"), "");
      expect(await output(manager({ poolSize: 0 }), 'printf %s "$PWD"; ls', { workingDir })).toBe(
        `${workingDir}here\n`,
      );
    },
  );

  test("runs under a state root with spaces, quotes and unicode", async () => {
    const stateRoot = join(directory(), "my 'state' \"ä\" $HOME 漢");
    expect(await output(manager({ stateRoot }), 'echo "$0"; echo two >&2')).toMatch(
      /^.*\/cmd\n\[stderr\]\ntwo\n$/,
    );
  });
});

function comm(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

function ageSeconds(pid: number): number {
  const uptime = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  // USER_HZ is 100 wherever Node runs.
  return uptime - Number(readStat(pid)?.startTime ?? Number.POSITIVE_INFINITY) / 100;
}
