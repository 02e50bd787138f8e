// Programs that do not wait for input are never reported as waiting, whatever they print.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory } = useShells();

/** Each runs long enough for several looks, and prints something that looks like a question. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "a sleep after a prompt": "printf 'up\\nPassword: '; sleep 1000",
  "a server": `node -e 'require("http").createServer().listen(0, () => process.stdout.write("up\\n> "))'`,
  "a busy loop": "echo up; printf 'Continue? [y/N] '; while :; do :; done",
  "a compile": "echo up; for i in 1 2 3 4 5; do cc -O2 -o out big.c; done; sleep 1000",
  "a pipe": "printf 'up\\n> '; sleep 1000 | cat",
  "a child in the background that reads": "set -m; cat & printf 'up\\n> '; sleep 1000",
  "a wait for a file lock": "exec 9>lock; flock 9; printf 'up\\n> '; flock lock true",
};

test.each(Object.entries(PROGRAMS))(
  "%s",
  async (_name, command) => {
    const dir = directory();
    const shells = manager({ killGraceMs: 50 });
    const source = Array.from({ length: 300 }, (_, index) => `int f${index}(int x) { return x * ${index}; }`);
    writeFileSync(join(dir, "big.c"), `${source.join("\n")}\nint main() { return 0; }\n`);
    // A hundred runs of all of them in the long form.
    for (let runs = 0; runs < (isLong ? 15 : 1); runs++) {
      const shell = await shells.createShell({ command, workingDir: dir, terminal: true });
      await shell.waitFor("up", 20_000);
      const seen = new Set<string>();
      for (let looks = 0; looks < 10; looks++) {
        seen.add((await shell.screen()).waiting);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      await shell.kill();
      expect([...seen]).toEqual(["no"]);
    }
  },
  300_000,
);

const READERS: Readonly<Record<string, readonly [command: string, waiting: string]>> = {
  "a line": ["read -r x", "line"],
  cat: ["cat", "line"],
  "a key": ["read -rn1 x", "key"],
  "a secret": ["read -rs x", "secret"],
  "a secret from /dev/tty": ["read -rs x </dev/tty", "secret"],
  "a line of Node, which polls": [`node -e 'process.stdin.once("data", () => {})'`, "line"],
  "a key of Node, which polls": [`node -e 'process.stdin.setRawMode(true); process.stdin.resume()'`, "key"],
  "a prompt of bash": ["bash --norc --noprofile", "key"],
  "a prompt of a shell without a line editor": ["sh", "line"],
  "a child of a child": ["bash -c 'bash -c \"read -r x; true\"; true'; true", "line"],
};

test.each(Object.entries(READERS))("%s is waited for", async (_name, [command, waiting]) => {
  const shell = await manager({ killGraceMs: 50 }).createShell({
    command,
    workingDir: directory(),
    terminal: true,
  });
  await eventually(async () => expect((await shell.screen()).waiting).toBe(waiting), 20_000);
});
