// Limits stop a fork bomb, a memory hog, a busy loop and a disk filler. Without limits, each of them uses more.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findGroupParents } from "../../src/sandbox/cgroups.ts";
import { Limits } from "../../src/sandbox/resource-limits.ts";
import { useDirectories } from "../fixtures/directories.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";

const world = useSandboxWorld();
const { workspace } = world;
const directory = useDirectories();
const has = (controller: "pids" | "memory") => findGroupParents([controller]).length > 0;
const MIB = 1024 ** 2;

/** Removes the note on incomplete output. On a kernel without /proc/self/syscall, every result has this note. */
const withoutOutputNote = (remarks: readonly string[]) =>
  existsSync("/proc/self/syscall")
    ? remarks
    : remarks.filter((remark) => !remark.includes("may be incomplete"));

/** Starts waiting processes, at most 60 even without a limit, and prints their number. */
const BOMB = `perl -e 'for (1..60) { my $p = fork; last unless defined $p; if (!$p) { sleep 300; exit } push @k, $p } print scalar @k, "\\n"; kill 9, @k'`;
/** Allocates 200 MiB in steps. */
const HOG = `perl -e 'for (1..200) { $x .= "x" x ${MIB}; } print "took ", length $x, "\\n"'`;
const FILLER = "head -c 3M /dev/zero >file; stat -c %s file";

const userName = process.getuid?.() === 0 ? "root" : "a user";

describeSandboxed("limits in a sandbox", () => {
  const manager = () =>
    world.manager({
      sandbox: "workspace-write",
      maxProcesses: 20,
      maxMemoryBytes: 64 * MIB,
      maxFileBytes: MIB,
    });

  test.skipIf(!has("pids"))("a fork bomb stops at the limit on processes", async () => {
    const shell = await runIn(manager(), BOMB, workspace);
    expect(Number(/^\d+/m.exec(shell.getAllOutput())?.[0] ?? 0)).toBeLessThan(21);
    expect(shell.confinement?.notEnforced).toEqual([]);
  });

  test.skipIf(!has("memory"))("a memory hog is killed, and the shell reports why", async () => {
    const shell = await runIn(manager(), HOG, workspace);
    expect(shell.getAllOutput()).not.toContain("took 209715200");
    expect(shell.exitCode).toBe(137);
    expect(withoutOutputNote(shell.remarks).join()).toMatch(
      /^out of memory: the kernel killed a process .* 67108864 bytes/,
    );
  });

  test.skipIf(!has("memory"))(
    "a session continues after a command that ran out of memory, and reports the cause",
    async () => {
      const session = manager().session("limited", { workingDir: workspace });
      const { notes, exitCode, outcome } = await session.run(HOG);
      expect({ exitCode, kind: outcome?.kind }).toEqual({ exitCode: 137, kind: "signaled" });
      expect(notes.join()).toContain("out of memory: the kernel killed a process");
      const { notes: later, exitCode: code } = await session.run("true");
      expect({ later: withoutOutputNote(later), code }).toEqual({ later: [], code: 0 });
    },
  );

  test("a file does not grow beyond the limit on its size, and a busy loop ends at the limit on CPU time", async () => {
    const filled = await runIn(manager(), FILLER, workspace);
    expect(filled.getAllOutput()).toMatch(/^1048576\n/);
    // Use a separate manager: on a slow kernel, this CPU limit would end the other commands before their own
    // limits.
    const brief = world.manager({ sandbox: "workspace-write", cpuSeconds: 1 });
    const busy = await runIn(brief, "while :; do :; done", workspace);
    expect(busy.outcome).toMatchObject({ kind: "signaled", code: expect.any(Number) });
  });
});

test("without limits, the same commands use more processes and memory", async () => {
  const manager = world.manager();
  expect((await runIn(manager, BOMB, workspace)).getAllOutput()).toMatch(/^60\n/);
  expect((await runIn(manager, HOG, workspace)).getAllOutput()).toBe("took 209715200\n");
  expect((await runIn(manager, FILLER, workspace)).getAllOutput()).toBe("3145728\n");
});

test("limits apply even without a sandbox, and their control groups are removed afterwards", async () => {
  const manager = world.manager({ maxProcesses: 20, maxFileBytes: MIB });
  const shell = await runIn(manager, `${BOMB}; ${FILLER}`, workspace);
  expect(shell.confinement).toMatchObject({ driver: "none", profile: "off" });
  expect(shell.getAllOutput()).toContain("1048576\n");
  if (has("pids")) expect(Number(/^\d+/m.exec(shell.getAllOutput())?.[0] ?? 0)).toBeLessThan(21);
  const groups = () =>
    findGroupParents(["pids"]).flatMap(({ dir }) =>
      readdirSync(dir).filter((name) => name.includes(shell.id)),
    );
  await eventually(() => expect(groups()).toEqual([]));
});

test(`without control groups, ${userName} gets the available limits, and a report of the missing limits`, () => {
  const limits = new Limits(
    { maxProcesses: 10, maxMemoryBytes: 64 * MIB, cpuSeconds: 5, maxFileBytes: MIB },
    () => [],
  );
  const { groups, rlimits, notEnforced } = limits.plan("x", 0);
  expect(groups).toEqual([]);
  expect(rlimits).toEqual(expect.arrayContaining(["-d 65536", "-t 5", "-f 1024"]));
  expect(notEnforced.join()).toContain("maxMemoryBytes for all processes together");
  if (process.getuid?.() === 0) expect(notEnforced.join()).toContain("maxProcesses: no control group");
  else expect(rlimits.join()).toMatch(/-u \d+/);
});

test("a limit of 0 is refused", () => {
  expect(() => new Limits({ maxProcesses: 0 })).toThrow(
    "maxProcesses must be a whole number above 0, not 0.",
  );
});

test("a directory without controller files is not used as a control group, and nothing is left in it", () => {
  const [v2, v1] = [directory(), directory()];
  const parents = [
    { version: 2, dir: v2, controllers: [] },
    { version: 1, dir: v1, controllers: ["pids"] },
  ] as const;
  // Plain directories have no controller files, so nacre uses neither of them.
  expect(findGroupParents(["pids"], [...parents])).toEqual([]);
  expect([readdirSync(v1), readdirSync(v2)]).toEqual([[], []]);
});

test.skipIf(!has("pids"))("the control group of a shell has the limit of the shell", () => {
  const limits = new Limits({ maxProcesses: 10 });
  const plan = limits.plan(`test-${process.pid}`, 2);
  const [file = ""] = plan.groups;
  expect(readFileSync(join(file, "../pids.max"), "utf8")).toBe("12\n");
  expect(statSync(file).isFile()).toBe(true);
  expect(plan.end()).toEqual([]);
  expect(existsSync(join(file, ".."))).toBe(false);
});
