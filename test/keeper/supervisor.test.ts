// The first process of a sandboxed session, without the sandbox.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, createReadStream, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useDirectories } from "../fixtures/directories.ts";
import { BASH } from "../fixtures/keepers.ts";

const directory = useDirectories();
const SUPERVISOR = new URL("../../src/keeper/supervisor.sh", import.meta.url).pathname;

test("which pid a bash has is told before anything that bash says", async () => {
  const dir = directory();
  const [control, report, script] = [join(dir, "control"), join(dir, "report"), join(dir, "script")];
  execFileSync("mkfifo", [control, report]);
  writeFileSync(script, `printf 'b\\0token\\0%s\\0\\n' $$ 1<>'${report}'; : >'${dir}/said'\n`);
  // Whatever the supervisor itself has to tell, its bash is quicker.
  const slow = `[[ $BASHPID != "$$" || $BASH_COMMAND != tell* ]] || until [[ -e '${dir}/said' ]]; do :; done`;
  const slowly = `trap "${slow.replaceAll(/["$]/g, "\\$&")}" DEBUG; set -T; . "$0"`;
  const reports = createReadStream("", { fd: openSync(report, "r+"), encoding: "latin1" });
  const toControl = openSync(control, "r+");
  writeSync(toControl, `token\0${script}\0${dir}\0`);
  const supervisor = spawn(BASH, ["-c", slowly, SUPERVISOR, BASH, control, report], { stdio: "ignore" });
  let said = "";
  try {
    for await (const chunk of reports) {
      said += chunk;
      if (said.includes("\nE\0")) break;
    }
  } finally {
    supervisor.kill("SIGKILL");
    await once(supervisor, "exit");
    closeSync(toControl);
  }
  const [first, second] = said.split("\n").map((line) => line.split("\0"));
  expect([first?.[0], second?.[0]]).toEqual(["P", "b"]);
  expect(first?.[2]).toBe(second?.[2]);
});
