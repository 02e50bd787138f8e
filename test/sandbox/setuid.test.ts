// A command cannot leave a setuid file behind: another user could run it outside the sandbox with the rights
// of nacre's user. Each attempt must succeed without a sandbox.
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const { workspace, outside } = world;
const managers = {
  off: world.manager({ sandbox: "off" }),
  "workspace-write": world.manager({ sandbox: "workspace-write" }),
};

const setuidFile = join(outside, "tool");
writeFileSync(setuidFile, "#!/bin/sh\n");
chmodSync(setuidFile, 0o4755);
const archive = join(outside, "tool.tar");
execFileSync("tar", ["--create", `--file=${archive}`, `--directory=${outside}`, "tool"]);

const MODE = "04755";
const AT_FDCWD = -100;
/** Creates a file, then makes a raw system call with the path in $p. */
const call = (words: string, created = "") =>
  `${created} perl -e 'umask 0; my $p = "x"; syscall(${words}) >= 0 or print "errno: $!\\n"'`;

const ATTEMPTS: readonly (readonly [string, string])[] = [
  ["chmod", "touch x; chmod 4755 x"],
  ["chmod u+s", "touch x; chmod u+s x"],
  ["chmod with the setgid bit, too", "touch x; chmod 6755 x"],
  ["the call chmod", call(`90, $p, ${MODE}`, "touch x;")],
  ["the call fchmod", `perl -e 'open(my $f, ">", "x"); syscall(91, fileno($f), ${MODE})'`],
  ["the call fchmodat", call(`268, ${AT_FDCWD}, $p, ${MODE}`, "touch x;")],
  ["the call fchmodat2", call(`452, ${AT_FDCWD}, $p, ${MODE}, 0`, "touch x;")],
  ["the call mknod", call(`133, $p, 0100000 | ${MODE}, 0`)],
  ["the call mknodat", call(`259, ${AT_FDCWD}, $p, 0100000 | ${MODE}, 0`)],
  ["the call creat", call(`85, $p, ${MODE}`)],
  ["the call open", call(`2, $p, 0101, ${MODE}`)],
  ["the call openat", call(`257, ${AT_FDCWD}, $p, 0101, ${MODE}`)],
  [
    "the call openat2",
    `perl -e 'umask 0; my ($p, $h) = ("x", pack("QQQ", 0101, ${MODE}, 0)); syscall(437, ${AT_FDCWD}, $p, $h, 24)'`,
  ],
  [
    "O_TMPFILE",
    `perl -e 'umask 0; my ($d, $t) = (".", "x"); my $f = syscall(257, ${AT_FDCWD}, $d, 020200001, ${MODE}); my $p = "/proc/self/fd/$f"; syscall(265, ${AT_FDCWD}, $p, ${AT_FDCWD}, $t, 0x400)'`,
  ],
  ["install -m", "touch y; install -m 4755 y x"],
  ["cp -p", `cp -p '${setuidFile}' .`],
  ["tar -p", `tar -xpf '${archive}'`],
];

async function setuidFilesAfter(sandbox: keyof typeof managers, command: string): Promise<string[]> {
  const directory = mkdtempSync(join(workspace, "case-"));
  await runIn(managers[sandbox], `cd '${directory}' && { ${command}; }`, workspace);
  return readdirSync(directory).filter((name) => (lstatSync(join(directory, name)).mode & 0o4000) !== 0);
}

describeSandboxed("in a sandbox, no setuid file is created", () => {
  test.each(ATTEMPTS)("with %s", async (_, command) => {
    expect(await setuidFilesAfter("workspace-write", command)).toEqual([]);
  });
});

describe("without a sandbox, a setuid file is created", () => {
  test.each(ATTEMPTS)("with %s", async (_, command) => {
    expect(await setuidFilesAfter("off", command)).toHaveLength(1);
  });
});

describeSandboxed("in a sandbox, programs whose calls are filtered", () => {
  const outputOf = async (command: string) => {
    const directory = mkdtempSync(join(workspace, "case-"));
    const shell = await runIn(
      managers["workspace-write"],
      `cd '${directory}' && { ${command}; }; echo "exit $?"`,
      workspace,
    );
    return shell.getAllOutput();
  };

  test.each([
    ["chmod", "touch x; chmod 4755 x"],
    ["install", "touch y; install -m 4755 y x"],
    ["tar -p", `tar -xpf '${archive}'`],
  ])("report the refused mode: %s", async (_, command) => {
    expect(await outputOf(command)).toMatch(/^exit [12]\n[\s\S]*Operation not permitted/);
  });

  test("can set other modes, even setgid on a shared directory", async () => {
    const command =
      "mkdir d && chmod 2775 d && chmod g+s d && mkdir -m 1777 s && touch x && chmod 755 x && install -m 750 x y && cp -p x z && stat -c '%a %n' d s x y z";
    expect(await outputOf(command)).toBe("2775 d\n1777 s\n755 x\n750 y\n755 z\nexit 0\n");
  });

  test("can create shared repositories", async () => {
    const command = "git init -q --shared=group r && stat -c %A r/.git/objects && git -C r status --short";
    expect(await outputOf(command)).toMatch(/^drwxrws.*\nexit 0\n$/);
  });

  test("can open files, whatever the unused mode argument contains", async () => {
    const command = `echo text >x; perl -e 'my $p = "x"; print syscall(2, $p, 0, 07777) >= 0 && syscall(257, ${AT_FDCWD}, $p, 0, 07777) >= 0 ? "opened\\n" : "$!\\n"'`;
    expect(await outputOf(command)).toBe("opened\nexit 0\n");
  });

  test("use openat instead of openat2", async () => {
    const command = `perl -e 'my ($p, $h) = (".", pack("QQQ", 0, 0, 0)); syscall(437, ${AT_FDCWD}, $p, $h, 24); print $!{ENOSYS} ? "ENOSYS\\n" : "$!\\n"'`;
    expect(await outputOf(command)).toBe("ENOSYS\nexit 0\n");
  });
});
