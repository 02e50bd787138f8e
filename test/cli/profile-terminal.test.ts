// The user's profile at a real terminal: an rc file that tries to take the terminal must not stop nacre, and nacre must
// still be able to read from the terminal afterwards.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";
import { atTerminal } from "./terminal.ts";

const { dir } = useCli();
const SHELLS = ["/bin/bash", "/usr/bin/zsh"].filter((path) => existsSync(path));
const STARTS = isLong ? 100 : 3;

/** Lines of an rc file that take the terminal. Without a terminal each line fails, and zsh skips the rest of the file. */
const GRABS = `
export FROM_RC=yes
stty -echo </dev/tty
stty sane
set -m
sleep 0.01 &
fg
exec </dev/tty
read -t 1 -r answer </dev/tty
tput reset >/dev/tty
`;

describe.each(SHELLS)("the profile of %s at a terminal", (shellPath) => {
  test(`does not stop nacre in ${STARTS} starts`, { timeout: 3_600_000 }, async () => {
    const home = join(dir(), "home");
    mkdirSync(home);
    for (const name of [".bashrc", ".zshrc"]) writeFileSync(join(home, name), GRABS);
    writeFileSync(join(home, ".bash_profile"), ". ~/.bashrc\n");
    const start = `'${process.execPath}' '${program}' run --shell-profile user`;
    // With tostop, the kernel stops a background process that writes to the terminal. If the rc file takes the
    // terminal from nacre, nacre is in the background and stops, so the test fails.
    const line = `stty tostop; for ((i = 1; i <= ${STARTS}; i++)); do
      [[ $(${start} 'echo "$FROM_RC"' 2>errors) == yes ]] || { cat errors; exit 8; }
      echo "started $i."
    done; ${start} --stdin 'read -r word; echo "read $word"'`;
    const terminal = atTerminal(`bash -c '${line.replaceAll("'", `'\\''`)}'`, {
      cwd: dir(),
      env: {
        PATH: process.env["PATH"],
        NACRE_HOME: join(dir(), "state"),
        HOME: home,
        SHELL: shellPath,
      },
    });
    for (let i = 1; i <= STARTS; i++)
      await Promise.race([terminal.shows(`started ${i}.`), terminal.exitCode]);
    terminal.type("hello\n");
    expect([await terminal.exitCode, terminal.screen()]).toEqual([0, expect.stringContaining("read hello")]);
  });
});
