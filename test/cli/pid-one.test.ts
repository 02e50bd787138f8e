// The program as PID 1 of a real PID namespace, and as a child of an init process.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missingReaper } from "../../src/engine/reaper.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const UNSHARE = [
  ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]),
  "--fork",
  "--pid",
  "--mount-proc",
];
const INDEX = join(import.meta.dirname, "../../dist/index.js");

/** Runs commands one after the other, then prints the PIDs of zombie loggers. */
const LIST_ZOMBIE_LOGGERS = `
  import { readdirSync, readFileSync } from "node:fs";
  import { setTimeout as sleep } from "node:timers/promises";
  const { createToolkit } = await import(process.argv[1]);
  const kit = await createToolkit();
  for (let i = 0; i < 5; i++) await kit.run("echo out; echo err >&2");
  const loggers = () => readdirSync("/proc").filter((pid) => {
    try {
      const stat = readFileSync("/proc/" + pid + "/stat", "latin1");
      return stat.includes("(nacre-log) Z");
    } catch {
      return false;
    }
  });
  const end = Date.now() + 5000;
  while (loggers().length > 0 && Date.now() < end) await sleep(5);
  console.log(JSON.stringify(loggers()));
  await kit.dispose();
`;
const canUnshare = spawnSync("unshare", [...UNSHARE, "true"]).status === 0;

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "nacre-pid1-"));
});
afterEach(() => removeAfterRun(home));

function inNamespace(...words: string[]): { stdout: string; stderr: string } {
  const { stdout, stderr } = spawnSync("unshare", [...UNSHARE, ...words], {
    encoding: "utf8",
    env: { ...process.env, NACRE_HOME: join(home, "state") },
    cwd: home,
  });
  return { stdout, stderr };
}

describe.skipIf(!canUnshare)("in a PID namespace", () => {
  test("as PID 1, doctor reports that nothing reaps orphans and names a remedy; nacre warns once at startup", () => {
    const { stdout, stderr } = inNamespace(process.execPath, MAIN, "doctor");
    expect(stdout).toMatch(/limited +reaper +This process is PID 1/);
    expect(stdout).toContain("docker run --init");
    expect(stderr.match(/NACRE_NO_REAPER/g)).toHaveLength(1);
  });

  test("as PID 1, nacre leaves no logger of an ended command as a zombie", () => {
    const { stdout } = inNamespace(process.execPath, "--input-type=module", "-e", LIST_ZOMBIE_LOGGERS, INDEX);
    expect(JSON.parse(stdout)).toEqual([]);
  });

  test("under an init that reaps, doctor reports ok and nacre does not warn at startup", () => {
    const { stdout, stderr } = inNamespace("bash", "-c", `"$0" "$1" doctor; exit`, process.execPath, MAIN);
    expect(stdout).toMatch(/ok +reaper/);
    expect(stderr).not.toContain("NACRE_NO_REAPER");
  });
});

test("missingReaper rejects a Node program or npm as PID 1, and accepts an init or a shell", () => {
  const remedyFor = (command: string, name = "x") => missingReaper(7, { name, command });
  expect(remedyFor("/usr/local/bin/node server.js")).toContain("PID 1 is a Node program");
  expect(remedyFor("npm exec nacre mcp", "npm exec nacre ")).toContain("PID 1 is a Node program");
  for (const command of ["/sbin/init", "tini -- node server.js", "bash -c node", "[kthread]"])
    expect(remedyFor(command)).toBeUndefined();
  expect(missingReaper(1, { name: "x", command: "x" })).toContain("This process is PID 1");
});
