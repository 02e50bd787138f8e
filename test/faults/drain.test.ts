import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readEndRecord } from "../../src/spool/end-record.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

const KEEP_STOPPED = fileURLToPath(new URL("../fixtures/bin/keep-stopped.mjs", import.meta.url));

test.each([
  [60, 4],
  [60, 200_000],
  [30, 5_000_000],
])(
  "%i of %i-byte outputs are complete at the end, with a leftover that holds the pipe",
  async (runs, size) => {
    const shells = manager();
    const lengths: number[] = [];
    for (let i = 0; i < runs; i++) {
      const shell = await run(shells, `sleep 300 & head -c ${size} /dev/zero`);
      lengths.push(statSync(shell.outputFiles.stdout).size);
      expect(shell.remarks).toEqual([]);
    }
    expect(lengths).toEqual(Array.from({ length: runs }, () => size));
  },
);

test("the last words before a sudden death are kept", async () => {
  const shells = manager();
  for (let i = 0; i < 30; i++) {
    const shell = await run(shells, "sleep 300 & printf 'last words'; printf 'cry' >&2; kill -9 $$");
    expect(shell.exitCode).toBe(137);
    expect(shell.getAllOutput()).toBe("last words\n[stderr]\ncry");
  }
});

test("a command that ends with a leftover printing on is over at once", async () => {
  const shells = manager();
  const shell = await run(shells, "yes & disown; echo mine >&2; exit 3", { capBytes: 1024 ** 3 });
  expect(shell.exitCode).toBe(3);
  expect(shell.durationMs).toBeLessThan(10_000);
  expect(readFileSync(shell.outputFiles.stderr, "utf8")).toBe("mine\n");
  expect((await shell.kill({ graceMs: 0 })).survivors).toEqual([]);
});

/** The other children of its shim. */
function loggersOf(shimPid: number, commandPid: number): number[] {
  const children = readFileSync(`/proc/${shimPid}/task/${shimPid}/children`, "utf8").trim().split(" ");
  return children.map(Number).filter((pid) => pid !== commandPid);
}

test("a logger that somebody stopped is woken, and the output is complete", async () => {
  const shell = await manager().createShell({
    command: "echo up; kill -STOP $$; echo more; exit 5",
    workingDir: "/",
  });
  await shell.waitFor({ pattern: /^up$/ }, 10_000);
  const loggers = loggersOf(shell.started.shimPid, shell.started.commandPid);
  expect(loggers).toHaveLength(2);
  for (const pid of loggers) process.kill(pid, "SIGSTOP");
  await shell.sendSignal("SIGCONT");
  expect(await shell.wait(20_000)).toBe(5);
  expect(shell.getAllOutput()).toBe("up\nmore\n");
  expect(shell.remarks).toEqual([]);
});

test("a logger that is kept stopped is waited for in vain for a while, and the result says so", async () => {
  const shell = await manager().createShell({
    command: "echo up; kill -STOP $$; echo more; exit 5",
    workingDir: "/",
    streams: "merged",
  });
  await shell.waitFor({ pattern: /^up$/ }, 10_000);
  const [logger = -1] = loggersOf(shell.started.shimPid, shell.started.commandPid);
  const keeper = spawn(process.execPath, [KEEP_STOPPED, String(logger)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(keeper.stdout, "data");
    await shell.sendSignal("SIGCONT");
    expect(await shell.wait(25_000)).toBe(5);
    expect(shell.getAllOutput()).toBe("up\n");
    expect(shell.remarks).toEqual(["output may be incomplete"]);
    expect(readEndRecord(shell.started.files.record).exit).toMatchObject({ code: 5, unsure: true });
  } finally {
    const gone = once(keeper, "exit");
    keeper.kill("SIGKILL");
    await gone;
    process.kill(logger, "SIGCONT");
  }
});
