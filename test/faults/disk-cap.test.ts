import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ExitRecord, readEndRecord } from "../../src/engine/end-record.ts";
import { deputyOf } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import { type Started, useSpecialHosts } from "../fixtures/special-host.ts";

const { manager, run, directory } = useShells();
const specialHost = useSpecialHosts();

const CAP = 16 * 1024 ** 2;
const CAP_REMARK = /^output cap reached: only the first 16777216 bytes of a stream are kept/;

/** The logical size of a file, and the bytes that the file system allocated for it. */
function sizes(path: string): { logical: number; allocated: number } {
  const { size, blocks } = statSync(path);
  return { logical: size, allocated: blocks * 512 };
}

test("a runaway command stores output exactly up to the cap, and the result reports that", async () => {
  const shell = await run(manager({ capBytes: CAP }), "yes");
  expect(sizes(shell.outputFiles.stdout).logical).toBe(CAP);
  expect(sizes(shell.outputFiles.stdout).allocated).toBeLessThanOrEqual(CAP);
  expect(shell).toMatchObject({ status: "failed", exitCode: 141, signal: "SIGPIPE" });
  expect(shell.remarks).toEqual([expect.stringMatching(CAP_REMARK)]);
});

test("a cap that is set for one shell does not apply to other shells", async () => {
  const shells = manager();
  const small = await run(shells, "yes", { capBytes: 1024 ** 2 });
  expect(sizes(small.outputFiles.stdout).logical).toBe(1024 ** 2);
  const usual = await run(shells, "head -c 2M /dev/zero");
  expect(sizes(usual.outputFiles.stdout).logical).toBe(2 * 1024 ** 2);
  expect(usual.remarks).toEqual([]);
});

test("a cap that is not a multiple of 1 KiB is not exceeded", async () => {
  const shell = await run(manager({ capBytes: 100_000 }), "yes");
  expect(sizes(shell.outputFiles.stdout).logical).toBeLessThanOrEqual(100_000);
  expect(sizes(shell.outputFiles.stdout).logical).toBeGreaterThan(98_000);
});

test("output of exactly the cap's size is complete, without a remark", async () => {
  const shell = await run(manager({ capBytes: CAP }), `head -c ${CAP} /dev/zero; exit 3`);
  expect(sizes(shell.outputFiles.stdout).logical).toBe(CAP);
  expect(shell).toMatchObject({ exitCode: 3, remarks: [] });
});

test("each stream has its own cap", async () => {
  const shell = await run(manager({ capBytes: CAP }), "(yes >&2); echo code=$?; echo and on");
  expect(sizes(shell.outputFiles.stderr).logical).toBe(CAP);
  expect(readFileSync(shell.outputFiles.stdout, "utf8")).toBe("code=141\nand on\n");
  expect(shell).toMatchObject({ exitCode: 0, status: "completed" });
  expect(shell.remarks).toEqual([expect.stringMatching(CAP_REMARK)]);
});

test("merged streams share one cap", async () => {
  const shell = await run(manager(), "yes & yes >&2; wait", { capBytes: CAP, streams: "merged" });
  expect(sizes(shell.outputFiles.stdout).logical).toBe(CAP);
  expect(shell.remarks).toEqual([expect.stringMatching(CAP_REMARK)]);
});

test("a command that continues after the cap keeps its own exit code", async () => {
  const shell = await run(manager({ capBytes: CAP }), "trap '' PIPE; yes 2>/dev/null; exit 6");
  expect(shell).toMatchObject({ status: "failed", exitCode: 6, signal: null });
  expect(shell.remarks).toEqual([expect.stringMatching(CAP_REMARK)]);
});

test("the cap does not limit files that the command itself writes", async () => {
  const file = join(directory(), "big");
  const command = `head -c 3M /dev/zero > ${file}; echo code=$?; ulimit -f`;
  const shell = await run(manager({ capBytes: 1024 ** 2 }), command);
  expect(sizes(file).logical).toBe(3 * 1024 ** 2);
  expect(shell.getAllOutput()).toBe("code=0\nunlimited\n");
});

test("the cap also limits a leftover that keeps printing", async () => {
  const shell = await run(manager({ capBytes: CAP }), "yes & disown; echo $! >&2");
  const pid = Number(readFileSync(shell.outputFiles.stderr, "utf8"));
  await eventually(() => expect(isAlive(pid)).toBe(false));
  expect(sizes(shell.outputFiles.stdout).logical).toBe(CAP);
});

/** A shell whose command prints endlessly once `release` is called. */
async function readyToRunAway(): Promise<{
  started: Started;
  keeper: number;
  release: () => void;
  kill: () => Promise<void>;
}> {
  const host = specialHost();
  const dir = directory();
  const fifo = join(dir, "go");
  execFileSync("mkfifo", [fifo]);
  // Use no slots: the test kills all of nacre's processes, so no process would end a slot.
  await host.manager({ stateRoot: join(dir, "state"), capBytes: CAP, poolSize: 0 });
  const started = await host.start({ command: `read -r < ${fifo}; exec yes` });
  return {
    started,
    keeper: parentOf(started.shimPid),
    release: () => execFileSync("bash", ["--norc", "-c", `echo > ${fifo}`]),
    kill: () => host.kill(),
  };
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
}

async function recordOf(path: string): Promise<ExitRecord> {
  return await eventually(() => {
    const { exit } = readEndRecord(path);
    if (typeof exit !== "object") throw new Error(`the record is ${exit}`);
    return exit;
  }, 15_000);
}

test("a runaway command does not exceed its cap even if its host, keeper and deputy are killed", async () => {
  const { started, keeper, release, kill } = await readyToRunAway();
  const deputy = await deputyOf(keeper);
  // Stop the keeper first: a running keeper would end the command, and the host would replace a dead keeper.
  process.kill(keeper, "SIGSTOP");
  process.kill(deputy, "SIGKILL");
  await kill();
  process.kill(keeper, "SIGKILL");
  await eventually(() => expect([keeper, deputy].filter(isAlive)).toEqual([]));
  expect(isAlive(started.commandPid)).toBe(true);
  release();
  expect(await recordOf(started.files.record)).toMatchObject({
    code: 141,
    capReached: true,
    stdoutBytes: CAP,
    unsure: false,
  });
  expect(sizes(started.files.stdout).logical).toBe(CAP);
  await eventually(() => expect([started.commandPid, started.shimPid].filter(isAlive)).toEqual([]));
});

test("after the host is killed, the record is complete and no process dies of the broken pipe", async () => {
  const { started, keeper, release, kill } = await readyToRunAway();
  process.kill(keeper, "SIGSTOP");
  await kill();
  release();
  // After the record, the shim writes its report into a pipe that no process reads any more.
  expect(await recordOf(started.files.record)).toMatchObject({ code: 141, capReached: true });
  await eventually(() => expect(isAlive(started.shimPid)).toBe(false));
  expect(isAlive(keeper)).toBe(true);
  process.kill(keeper, "SIGCONT");
  await eventually(() => expect(isAlive(keeper)).toBe(false));
  expect(await recordOf(started.files.record)).toMatchObject({ code: 141, capReached: true });
  expect(sizes(started.files.stdout).logical).toBe(CAP);
});

test("the keeper and the shims ignore SIGPIPE, but the command does not", async () => {
  const { started, keeper, release } = await readyToRunAway();
  const ignoresSigpipe = (pid: number) => {
    const [, mask = ""] = /^SigIgn:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (BigInt(`0x${mask}`) >> 12n) & 1n;
  };
  // Retry: the fork that becomes the command may not have reset SIGPIPE yet.
  await eventually(() =>
    expect([keeper, started.shimPid, started.commandPid].map(ignoresSigpipe)).toEqual([1n, 1n, 0n]),
  );
  release();
  await recordOf(started.files.record);
});
