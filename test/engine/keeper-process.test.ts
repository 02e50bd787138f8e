import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { preallocateEndRecord } from "../../src/engine/end-record.ts";
import {
  type KeeperProcess,
  type KeeperProcessOptions,
  startKeeperProcess,
  TagTaken,
} from "../../src/engine/keeper-process.ts";
import { KeeperScripts } from "../../src/engine/keeper-scripts.ts";
import { readStat } from "../../src/engine/process-table.ts";
import type { Answer } from "../../src/engine/protocol.ts";
import { TagSpace } from "../../src/engine/tag.ts";
import { deferred } from "../../src/support/timing.ts";
import { BASH } from "../fixtures/keepers.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory } = useShells();

async function start(
  options: Partial<Pick<KeeperProcessOptions, "bashPath" | "tag" | "hostShift" | "key" | "onAnswer">> = {},
): Promise<KeeperProcess & { readonly keeperDir: string; readonly exited: Promise<void> }> {
  const keeperDir = join(directory(), "a keeper ünd more");
  let onExit = () => {};
  const exited = new Promise<void>((resolve) => {
    onExit = resolve;
  });
  const keeper = await startKeeperProcess({
    bashPath: BASH,
    keeperDir,
    scripts: new KeeperScripts(keeperDir),
    tag: "-",
    hostShift: 0,
    onAnswer: () => {},
    onExit,
    ...options,
  });
  return { ...keeper, keeperDir, exited };
}

/** A program that replaces bash: it prints these lines and then waits for EOF on its stdin. */
function lineServer(...lines: string[]): string {
  const path = join(directory(), "lineServer");
  writeFileSync(
    path,
    `#!${BASH}\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")}\nread -r -d ''\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

describe("a keeper", () => {
  test("greets with its version, PID, start time, boot, namespace and bash version", async () => {
    const keeper = await start();
    const { hello } = keeper;
    expect(hello).toMatchObject({ version: 2, tagged: false, startTime: readStat(hello.pid)?.startTime });
    expect(hello.bootId).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim());
    expect(hello.pidNamespace).toMatch(/^\d+$/);
    expect(hello.bashVersion).toMatch(/^\d+\.\d+/);
    await keeper.end();
  });

  test("has its own session, is not called bash, and inherits no variables or descriptors of the host", async () => {
    process.env["NACRE_TEST_SECRET"] = "of the host";
    const keeper = await start().finally(() => delete process.env["NACRE_TEST_SECRET"]);
    const { pid } = keeper.hello;
    expect(readStat(pid)).toMatchObject({ session: pid, group: pid });
    expect(readStat(process.pid)?.session).not.toBe(pid);
    expect(readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("nacre-keeper\n");
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0]).toBe("nacre-keeper");
    const names = readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((pair) => pair.split("=")[0]);
    expect(names.sort()).toEqual(["", "LC_ALL", "PATH"]);
    const fds = () =>
      readdirSync(`/proc/${pid}/fd`)
        .map(Number)
        .filter((fd) => fd !== 255);
    // bash keeps a copy of a redirected descriptor for a moment. The deputy waits on descriptors 3 and 4.
    await eventually(() => expect(fds().sort()).toEqual([0, 1, 2, 3, 4]));
    expect(readlinkSync(`/proc/${pid}/fd/4`)).toMatch(/^pipe:/);
    await keeper.end();
  });

  test("removes its directory and exits when its stdin is closed", async () => {
    const keeper = await start();
    expect(existsSync(keeper.keeperDir)).toBe(true);
    await keeper.end();
    await keeper.exited;
    expect(existsSync(keeper.keeperDir)).toBe(false);
    expect(readStat(keeper.hello.pid)).toBeUndefined();
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE"] as const)("survives %s", async (signal) => {
    const answers: Answer[] = [];
    const keeper = await start({ onAnswer: (answer) => answers.push(answer) });
    process.kill(keeper.hello.pid, signal);
    // An answer after the signal proves that the keeper is alive.
    keeper.send(["nonsense"]);
    await eventually(() => expect(answers).toEqual([{ kind: "unknown", line: "error protocol nonsense" }]));
    await keeper.end();
  });

  test("has its tag, and prevents the start of a second keeper with the same number", async () => {
    const { keeper, space, tagged } = await startWithFreeNumber();
    expect(keeper.hello.tagged).toBe(true);
    expect(readFileSync(`/proc/${keeper.hello.pid}/limits`, "latin1")).toMatch(
      new RegExp(`Max file locks +${space.keeperTag} +${space.keeperTag} `),
    );
    await expect(start(tagged)).rejects.toBeInstanceOf(TagTaken);
    // A host with this number passes "+TAG" to its next keeper.
    process.kill(keeper.hello.pid, "SIGKILL");
    await keeper.exited;
    const again = await start({ ...tagged, tag: `+${space.keeperTag}` });
    keeper.relieveDeputy();
    expect(again.hello.tagged).toBe(true);
    await again.end();
  });

  test("may share its number with another keeper if it has a key, and its exit ends only its own shells", async () => {
    const spaces = [0.1, 0.9].map((key) => TagSpace.within("unlimited", 0.5)?.withKey("unlimited", key));
    const [first, second] = await Promise.all(spaces.map(startWithSlot));
    expect(first?.tag).toBe(second?.tag);
    const pids = await Promise.all([first?.commandPid, second?.commandPid]);
    expect(pids.map((pid = 0) => isAlive(pid))).toEqual([true, true]);
    await first?.keeper.end();
    expect(pids.map((pid = 0) => isAlive(pid))).toEqual([false, true]);
    // The host has ended its commands itself: its keeper has to end only waiting slots.
    await second?.keeper.end(true);
    expect(pids.map((pid = 0) => isAlive(pid))).toEqual([false, false]);
    await Promise.all([first?.keeper.exited, second?.keeper.exited]);
    expect([first, second].map((one) => existsSync(one?.dir ?? ""))).toEqual([false, false]);
  });
});

/** Draws numbers until one is free, like a host without a key. */
async function startWithFreeNumber() {
  for (;;) {
    const space = TagSpace.within("unlimited", Math.random());
    if (!space) throw new Error("no tags");
    const tagged = { tag: String(space.keeperTag), hostShift: space.hostShift };
    try {
      return { keeper: await start(tagged), space, tagged };
    } catch (error) {
      if (!(error instanceof TagTaken)) throw error;
    }
  }
}

async function startWithSlot(space: TagSpace | undefined) {
  if (!space?.key) throw new Error("no room for a key");
  const ready = deferred<number>();
  const onAnswer = (answer: Answer) => {
    if (answer.kind === "ready") ready.resolve(answer.commandPid);
  };
  const tag = String(space.keeperTag);
  const keeper = await start({ tag, hostShift: space.hostShift, key: space.key, onAnswer });
  const dir = join(directory(), "slot");
  mkdirSync(dir);
  preallocateEndRecord(join(dir, "record"));
  keeper.send(["env", "base", "0"]);
  keeper.send(["slot", "1", dir, String(space.shellTag(3)), "1024", "split", "base"]);
  return { keeper, tag, dir, commandPid: ready.promise };
}

describe("a keeper that does not start", () => {
  test.each([
    ["reports the reason", ["fatal cannot write to /x"], "The keeper did not start: cannot write to /x"],
    ["of another version is refused", ["hello 1 1 1 none b 0 5.2"], "The keeper speaks version 1, not 2."],
  ])("%s", async (_, lines, message) => {
    await expect(start({ bashPath: lineServer(...lines) })).rejects.toThrow(message);
  });

  test("because it exited at once is reported", async () => {
    await expect(start({ bashPath: "/bin/true" })).rejects.toThrow(
      expect.objectContaining({ code: "spawn_failed", message: expect.stringMatching(/^The keeper\b/) }),
    );
  });

  test("because its directory cannot be created is reported", async () => {
    const options = { bashPath: BASH, tag: "-", hostShift: 0, onAnswer: () => {}, onExit: () => {} };
    const keeperDir = "/etc/passwd/keeper";
    const started = startKeeperProcess({ ...options, keeperDir, scripts: new KeeperScripts(keeperDir) });
    await expect(started).rejects.toThrow("The keeper did not start: cannot write to /etc/passwd/keeper");
  });

  test.each([
    ["is missing", () => "/nowhere/bash", "/nowhere/bash does not exist."],
    ["is not executable", () => "/etc/passwd", "/etc/passwd is not executable."],
  ])("because its bash %s is reported", async (_, path, message) => {
    await expect(start({ bashPath: path() })).rejects.toThrow(`No process could be started: ${message}`);
  });

  test("is not reported if other lines come before the greeting", async () => {
    const answers: Answer[] = [];
    const noise = lineServer("garbage", "exit", "hello 2 77 1 none b 0 5.2", "ready 1 2 3 4 5 6");
    const keeper = await start({ bashPath: noise, onAnswer: (answer) => answers.push(answer) });
    await eventually(() => expect(answers.map(({ kind }) => kind)).toEqual(["unknown", "unknown", "ready"]));
    await keeper.end();
  });
});
