// Sessions on a full disk: a tmpfs in the mount namespace of their host.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FULL, SPOOL_FULL, useSmallDisks } from "../fixtures/small-disk.ts";

const { directory, onDisk } = useSmallDisks();

/** Prints more than fits on the disk, and then continues. */
const TOO_MUCH = "trap '' PIPE; head -c 4M /dev/zero | tr '\\0' x";
const NO_SPACE = /no space left .*\/state\/shells\/shell_\w+.* free space/i;
const UNSAVED = /state could not be saved in .*\/state\/shells\/shell_\w+: .*No space left.* Free space/;

/** The remarks on output. A command has at most one, even if both streams lost output. */
function aboutOutput(notes: readonly string[]): readonly string[] {
  return notes.filter((note) => /output|logger/i.test(note));
}

describe("in a session", () => {
  test("a command that fills the disk keeps its exit code and its stored output, and the remark names the disk", async () => {
    const { host, disk } = await onDisk();
    const filler = join(disk, "filler");
    expect(await host.inSession("echo one; V=kept")).toMatchObject({ out: "one\n", notes: [] });
    await host.ask("writeFile", { path: filler, bytes: 600_000 });
    const full = await host.inSession(`${TOO_MUCH}; echo cut off; (exit 7)`);
    expect(full).toMatchObject({ exitCode: 7, restarted: false });
    expect(full.out).toMatch(/^x{100000,}$/);
    expect(aboutOutput(full.notes)).toEqual([expect.stringMatching(SPOOL_FULL)]);
    expect(aboutOutput(full.notes)).toEqual([expect.stringMatching(NO_SPACE)]);
    const whileFull = await host.inSession("echo lost; (exit 8)");
    expect(whileFull.exitCode).toBe(8);
    // Between the commands, a failed save of the state or a probe of the disk can free a block. This short
    // output then fits.
    const remarks = whileFull.out === "lost\n" ? [] : [expect.stringMatching(SPOOL_FULL)];
    expect(aboutOutput(whileFull.notes)).toEqual(remarks);
    await host.ask("removeFile", { path: filler });
    const next = await host.inSession("seq 1000 | tail -1; echo $V >&2");
    expect(next).toMatchObject({ exitCode: 0, out: "1000\n", err: "kept\n" });
    expect(aboutOutput(next.notes)).toEqual([]);
    // Only the command that lost output has the remark. Later commands have none.
    expect(aboutOutput((await host.inSession("exit 3")).notes)).toEqual([]);
  });

  test("a command that fills the disk and ends bash keeps its exit code and output; free space restores the state", async () => {
    const { host, disk } = await onDisk();
    const filler = join(disk, "filler");
    await host.inSession("V=kept");
    await host.ask("sessionSaved");
    await host.ask("writeFile", { path: filler, bytes: 600_000 });
    const full = await host.inSession(`echo first; ${TOO_MUCH}; exit 7`);
    expect(full).toMatchObject({ exitCode: 7, restarted: true });
    expect(full.out).toMatch(/^first\nx{100000,}$/);
    expect(full.notes).toContainEqual(expect.stringMatching(SPOOL_FULL));
    expect(full.notes).toContainEqual(expect.stringMatching(/new bash could not be started yet: .*no space/));
    const refused = await host.refusal("inSession", { command: "echo $V" });
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(FULL);
    await host.ask("removeFile", { path: filler });
    expect(await host.inSession("echo $V")).toMatchObject({ exitCode: 0, out: "kept\n" });
  });

  test("the exit code and the remark are correct if replacement loggers find the disk full", async () => {
    const { host, disk } = await onDisk();
    // A long output makes the session replace its loggers.
    await host.inSession("seq 10000");
    await host.inSession("echo this runs with the new loggers");
    await host.ask("fillDisk", { path: join(disk, "filler") });
    const full = await host.inSession(`${TOO_MUCH}; exit 9`);
    expect(full.exitCode).toBe(9);
    expect(aboutOutput(full.notes)).toEqual([expect.stringMatching(SPOOL_FULL)]);
  });

  test("a command that continues in the background reports that the disk was full", async () => {
    const { host, disk } = await onDisk();
    const fifo = join(directory(), "go");
    execFileSync("mkfifo", [fifo]);
    await host.inSession("seq 10000");
    await host.inSession("echo this runs with the new loggers");
    const left = await host.inSession(`read -r < ${fifo}; ${TOO_MUCH}; exit 6`, { backgroundAfterMs: 50 });
    await host.ask("fillDisk", { path: join(disk, "filler") });
    execFileSync("bash", ["--norc", "-c", `echo > ${fifo}`]);
    const ended = await host.wait(left.shell ?? "");
    expect(ended).toMatchObject({ exitCode: 6, remarks: [expect.stringMatching(SPOOL_FULL)] });
  });

  test("a state that cannot be saved is reported, and is lost only when bash ends", async () => {
    const { host, disk } = await onDisk();
    const filler = join(disk, "filler");
    // Allocate a block for output before the disk is full.
    await host.inSession("A=1; echo x");
    await host.ask("sessionSaved");
    await host.ask("fillDisk", { path: filler });
    await host.inSession("B=$(head -c 50000 /dev/zero | tr '\\0' y)");
    await host.ask("sessionSaved");
    const result = await host.inSession('C=3; echo $A $(printf %s "$B" | wc -c) $C');
    expect(result).toMatchObject({ exitCode: 0, out: "1 50000 3\n" });
    expect(result.notes).toEqual([expect.stringMatching(UNSAVED)]);
    await host.ask("sessionSaved");
    const ended = await host.inSession("exit 4");
    expect(ended.exitCode).toBe(4);
    expect(ended.notes).toContainEqual(
      expect.stringMatching(/the changes of the 2 commands before this one/),
    );
    await host.ask("removeFile", { path: filler });
    expect(await host.inSession("echo [$A] [$B] [$C]; D=4")).toMatchObject({ out: "[1] [] []\n" });
    await host.ask("sessionSaved");
    expect((await host.inSession("exit 5")).notes.join()).not.toMatch(/could not be/);
    expect(await host.inSession("echo $A $D")).toMatchObject({ out: "1 4\n", notes: [] });
  });

  test("the first command on a full disk fails with a clear error, and a retry succeeds after space is freed", async () => {
    const { host, disk } = await onDisk();
    const filler = join(disk, "filler");
    await host.ask("fillDisk", { path: filler });
    const refused = await host.refusal("inSession", { command: "echo never" });
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(/no space/i);
    await host.ask("removeFile", { path: filler });
    expect(await host.inSession("echo now")).toMatchObject({ exitCode: 0, out: "now\n", notes: [] });
  });

  test("a background start on a full disk fails with a clear error; with free space, it inherits the session's state", async () => {
    const { host, disk } = await onDisk();
    const filler = join(disk, "filler");
    await host.inSession("export V=kept; f() { echo f $V; }");
    await host.ask("sessionSaved");
    await host.ask("fillDisk", { path: filler });
    const refused = await host.refusal("startInSession", { command: "f" });
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(FULL);
    await host.ask("removeFile", { path: filler });
    const { id } = await host.ask<{ id: string }>("startInSession", { command: "f; exit 3" });
    expect(await host.wait(id)).toMatchObject({ exitCode: 3, remarks: [] });
    expect(await host.ask("output", { id })).toBe("f kept\n");
  });

  test("if no inodes are left for new loggers, commands run but their output is lost, until inodes are freed", async () => {
    const { host, disk } = await onDisk("size=1m,nr_inodes=100");
    const filler = join(disk, "filler");
    const inodes = join(disk, "inodes");
    await host.inSession("echo one");
    await host.ask("fillDisk", { path: filler });
    await host.ask("fillInodes", { dir: inodes });
    expect(await host.inSession(`${TOO_MUCH}; (exit 5)`)).toMatchObject({ exitCode: 5 });
    const lost = await host.inSession("echo lost; (exit 6)");
    expect(lost).toMatchObject({ exitCode: 6, out: "", restarted: false });
    expect(aboutOutput(lost.notes)).toEqual([expect.stringMatching(SPOOL_FULL)]);
    await host.ask("removeAll", { dir: inodes });
    await host.ask("removeFile", { path: filler });
    const found = await host.inSession("echo found");
    expect(found).toMatchObject({ exitCode: 0, out: "found\n" });
    expect(aboutOutput(found.notes)).toEqual([]);
  });
});
