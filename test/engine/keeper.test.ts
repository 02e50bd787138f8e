import { existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readEndRecord, writeCause } from "../../src/engine/end-record.ts";
import type { Job } from "../../src/engine/job.ts";
import { readStat } from "../../src/engine/process-table.ts";
import { NacreError } from "../../src/support/errors.ts";
import { sendJob, useKeepers } from "../fixtures/keepers.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const keeperFor = useKeepers(shells);
const job: Job = { workingDir: "/", bashEnv: "", stdin: "", variables: [] };
const recordOf = (slot: { readonly dir: string }) => readEndRecord(join(slot.dir, "record"));

describe("a slot", () => {
  test("waits for its job, runs it, and reports its exit after the record is on disk", async () => {
    const { open, end } = keeperFor();
    const slot = await open();
    expect(isAlive(slot.commandPid)).toBe(true);
    expect(readStat(slot.commandPid)?.startTime).toBe(slot.commandStart);
    writeFileSync(join(slot.dir, "cmd"), 'echo "$GIVEN and $OWN"; echo oops >&2; exit 3\n');
    expect(sendJob(slot, { ...job, variables: ["OWN=more"] })).toBe(true);
    const reported = await end(slot.generation);
    expect(reported).toMatchObject({
      code: 3,
      stdoutBytes: 21,
      stderrBytes: 5,
      capReached: false,
      unsure: false,
    });
    expect(recordOf(slot)).toEqual({ exit: reported, cause: undefined });
    expect(readFileSync(join(slot.dir, "out"), "utf8")).toBe("by the test and more\n");
    expect(readFileSync(join(slot.dir, "err"), "utf8")).toBe("oops\n");
  });

  test("can have an environment of its own, and the next slot has the base environment again", async () => {
    const { open, end } = keeperFor();
    const [own, base] = await Promise.all([open({ environment: ["PATH=/bin", "OTHER=1"] }), open()]);
    for (const slot of [own, base]) {
      writeFileSync(join(slot.dir, "cmd"), `echo "\${GIVEN-none} \${OTHER-none}"\n`);
      sendJob(slot, job);
      await end(slot.generation);
    }
    expect(readFileSync(join(own.dir, "out"), "utf8")).toBe("none 1\n");
    expect(readFileSync(join(base.dir, "out"), "utf8")).toBe("by the test none\n");
  });

  test("whose directory is missing fails with the reason, and the next request succeeds", async () => {
    const { open } = keeperFor();
    await expect(open({ dir: "/nowhere/slot" })).rejects.toThrow("A shell could not be started");
    expect(isAlive((await open()).commandPid)).toBe(true);
  });

  test("that has died refuses a job", async () => {
    const { open, end } = keeperFor();
    const slot = await open();
    process.kill(slot.commandPid, "SIGKILL");
    expect(await end(slot.generation)).toMatchObject({ code: 137 });
    expect(sendJob(slot, job)).toBe(false);
  });

  test("refuses a job that does not fit into its pipe, instead of reading half of it", async () => {
    const { open } = keeperFor();
    const slot = await open();
    // Stop bash first: a running bash could read fast enough for the whole job to fit.
    process.kill(slot.commandPid, "SIGSTOP");
    expect(sendJob(slot, { ...job, variables: [`BIG=${"x".repeat(100_000)}`] })).toBe(false);
  });
});

describe("a keeper that is killed", () => {
  test("is replaced at once, and the next keeper takes over its shells", async () => {
    const { keeper, open, end } = keeperFor();
    const slot = await open();
    writeFileSync(join(slot.dir, "cmd"), "sleep 300\n");
    writeFileSync(join(slot.dir, "meta"), "{}");
    sendJob(slot, job);
    const first = (await keeper.start()).pid;
    process.kill(first, "SIGKILL");
    const second = await eventually(async () => {
      const { pid } = await keeper.start();
      expect(pid).not.toBe(first);
      return pid;
    });
    expect(isAlive(second) && isAlive(slot.commandPid)).toBe(true);
    // A keeper that is stopped also ends the shells that its predecessor forked.
    await keeper.stop();
    expect(await end(slot.generation)).toMatchObject({ code: 137 });
    expect(recordOf(slot).cause).toEqual({ kind: "host-ended", detail: "" });
  });

  test("does not prevent its shells from reporting their exit through the pipe that they inherited", async () => {
    const { keeper, open, end } = keeperFor();
    const slot = await open();
    const gate = join(slot.dir, "gate");
    writeFileSync(gate, "");
    writeFileSync(join(slot.dir, "cmd"), "while [[ -e gate ]]; do sleep 0.01; done; exit 5\n");
    sendJob(slot, { ...job, workingDir: slot.dir });
    process.kill((await keeper.start()).pid, "SIGKILL");
    unlinkSync(gate);
    expect(await end(slot.generation)).toMatchObject({ code: 5 });
  });

  test("leaves no request without an answer, even if requests are in flight", async () => {
    const { keeper, open } = keeperFor();
    const { pid } = await keeper.start();
    process.kill(pid, "SIGSTOP");
    const requests = [open(), open(), open()].map((request) =>
      request.then(
        () => "served",
        (error: unknown) => (error instanceof Error ? error.message : "?"),
      ),
    );
    // The requests are in a pipe that no process reads any more.
    process.kill(pid, "SIGKILL");
    for (const answer of await Promise.all(requests)) expect(answer).toMatch(/^served$|^The keeper\b/);
    expect(isAlive((await open()).commandPid)).toBe(true);
  });
});

describe("a keeper that is stopped", () => {
  test("ends every shell, records the cause, and removes slots that never got a job", async () => {
    const { keeper, open, end } = keeperFor();
    const [busy, named, idle] = await Promise.all([open(), open(), open()]);
    for (const slot of [busy, named]) {
      writeFileSync(join(slot.dir, "cmd"), "trap '' TERM; sleep 300\n");
      writeFileSync(join(slot.dir, "meta"), "{}");
      sendJob(slot, job);
    }
    writeCause(join(named.dir, "record"), { kind: "timeout", detail: "1000" });
    await keeper.stop();
    for (const slot of [busy, named]) expect(await end(slot.generation)).toMatchObject({ code: 137 });
    expect(recordOf(busy)).toMatchObject({ exit: { code: 137 }, cause: { kind: "host-ended" } });
    expect(recordOf(named)).toMatchObject({ cause: { kind: "timeout", detail: "1000" } });
    await eventually(() => expect([busy, named, idle].some((slot) => isAlive(slot.commandPid))).toBe(false));
    await eventually(() => expect(existsSync(idle.dir)).toBe(false));
  });

  test("refuses later requests, and can be stopped twice", async () => {
    const { keeper, open } = keeperFor();
    await keeper.start();
    await Promise.all([keeper.stop(), keeper.stop()]);
    await expect(keeper.start()).rejects.toThrow(
      new NacreError("spawn_failed", "This shell manager has been disposed of."),
    );
    await expect(open()).rejects.toThrow("This shell manager has been disposed of.");
  });

  test("has nothing to end if it was never started", async () => {
    const { keeper } = keeperFor();
    await keeper.stop();
    await expect(keeper.start()).rejects.toThrow("disposed of");
  });

  test.each([undefined, { tag: "unlimited", key: "unlimited" }, { tag: "unlimited", key: "4096" }])(
    "answers the requests that are in flight (own limits: %j)",
    async (ownLimits) => {
      const { keeper, open } = keeperFor({ ownLimits });
      await keeper.start();
      const tag = String(keeper.tagSpace?.shellTag(1) ?? "-");
      const requests = Promise.allSettled([open({ tag }), open({ tag })]);
      await keeper.stop();
      expect(await requests).toHaveLength(2);
      // A slot can still open before the stop. The fixture checks that no slot remains.
    },
  );
});
