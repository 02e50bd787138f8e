// Sandboxed commands run in directories whose names are not UTF-8, with the usual protection. Next to each
// directory is a decoy: the directory that Node would open if it decoded the name lossily.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { findCredentials } from "../../src/sandbox/find-credentials.ts";
import { fsPath, shownPath, textOfBytes } from "../../src/support/path-text.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { openSession } from "../fixtures/sessions.ts";

const world = useSandboxWorld();
const { workspace } = world;
const NAMES = [
  ["a stray byte", textOfBytes(Buffer.from([0x64, 0xff]))],
  ["an incomplete character at the end", textOfBytes(Buffer.from([0x64, 0xe2, 0x82]))],
  ["a newline and a stray byte", textOfBytes(Buffer.from([0x61, 0x0a, 0xff]))],
] as const;

let odd = "";
let decoy = "";
function makeOdd(name: string): void {
  odd = join(workspace, name);
  decoy = join(workspace, name.toWellFormed());
  mkdirSync(fsPath(odd));
  mkdirSync(decoy);
}

function initRepository(): void {
  // Node cannot pass the unusual name as an argument, so bash moves the repository there.
  execFileSync("git", ["init", "-q", "made"], { cwd: decoy, stdio: "pipe" });
  execFileSync("bash", ["--norc", "-c", `mv ${shownPath(decoy)}/made/.git ${shownPath(odd)}/.git`]);
  rmSync(join(decoy, "made"), { recursive: true });
}

beforeEach(() => {
  rmSync(workspace, { recursive: true, force: true });
  mkdirSync(workspace);
});

test("credentials are found in a home whose name is not UTF-8", () => {
  makeOdd(NAMES[0][1]);
  const listing = join(odd, ".config/gh");
  mkdirSync(fsPath(listing), { recursive: true });
  writeFileSync(fsPath(join(odd, ".npmrc")), "");
  const own = findCredentials([odd], { otherHomes: [], moved: [] });
  const others = findCredentials([], { otherHomes: [odd], moved: [] });
  for (const found of [own, others].map((secrets) => secrets.map(({ path }) => path)))
    expect(found).toEqual(expect.arrayContaining([listing, join(odd, ".npmrc")]));
});

describeSandboxed("in a sandbox", () => {
  test.each(NAMES)(
    "a command runs in a directory whose name has %s, even if this directory is the workspace",
    async (_, name) => {
      makeOdd(name);
      for (const root of [workspace, odd]) {
        const manager = world.manager({ sandbox: "workspace-write", workspace: root });
        const shell = await runIn(manager, "pwd; pwd -P; echo x >made; echo y >../outside", odd);
        expect(textOfBytes(readFileSync(shell.outputFiles.stdout))).toBe(`${odd}\n${odd}\n`);
        expect(shell.confinement).toMatchObject({ driver: "bubblewrap" });
        expect(readdirSync(fsPath(odd))).toEqual(["made"]);
        expect(readdirSync(decoy)).toEqual([]);
      }
    },
  );

  test.each(NAMES)("if its bash ends, a session stays in a directory whose name has %s", async (_, name) => {
    makeOdd(name);
    const manager = world.manager({ sandbox: "workspace-write" });
    const { run, session } = openSession(
      { manager: world.manager, directory: () => workspace },
      {},
      { manager, workingDir: workspace },
    );
    expect((await run(`cd ${shownPath(odd)}`)).cwd).toBe(odd);
    await run("exit 3");
    const after = await run("pwd -P >where; pwd");
    expect(after).toMatchObject({ exitCode: 0, cwd: odd, err: "" });
    expect(textOfBytes(readFileSync(after.stdout.path).subarray(after.stdout.from))).toBe(`${odd}\n`);
    expect(textOfBytes(readFileSync(fsPath(join(odd, "where"))))).toBe(`${odd}\n`);
    const shell = await session.start("pwd -P");
    await shell.wait(20_000);
    expect(textOfBytes(readFileSync(shell.outputFiles.stdout))).toBe(`${odd}\n`);
  });

  test.each(NAMES)(
    "the hooks of a repository are read-only, even if its directory's name has %s",
    async (_, name) => {
      makeOdd(name);
      initRepository();
      for (const root of [workspace, odd]) {
        const manager = world.manager({ sandbox: "workspace-write", workspace: root });
        const command =
          "echo x >.git/hooks/pre-commit; echo y >>.git/config; echo z >.git/config.worktree; echo ok >.git/ok";
        const shell = await runIn(manager, command, odd);
        expect(shell.getAllOutput().match(/Read-only file system/g)).toHaveLength(3);
        expect(readFileSync(fsPath(join(odd, ".git/ok")), "utf8")).toBe("ok\n");
        await manager.dispose();
      }
      // The placeholder is gone, and was never in another directory.
      expect(readdirSync(fsPath(join(odd, ".git")))).not.toContain("config.worktree");
      expect(readdirSync(decoy)).toEqual([]);
    },
  );

  test("a note names a new repository in such a directory, quoted for bash", async () => {
    makeOdd(NAMES[0][1]);
    const manager = world.manager({ sandbox: "workspace-write" });
    const shell = await runIn(manager, "git init -q", odd);
    expect(shell.remarks.join("\n")).toContain(`new repository: ${shownPath(join(odd, ".git"))}, made`);
  });
});
