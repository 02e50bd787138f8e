import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ExitRecord } from "../../src/engine/end-record.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/engine-options.ts";
import { readIdentity } from "../../src/engine/identity.ts";
import { readMeta } from "../../src/engine/meta.ts";
import { isSameProcess, thisProcess } from "../../src/engine/process-table.ts";
import { signalGroup, signalProcess } from "../../src/engine/signals.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { reachOf } from "../../src/engine/tag.ts";
import { STREAM_CAP_BYTES } from "../../src/support/limits.ts";
import { keeperPid } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
let hosts: Engine[] = [];
afterEach(async () => {
  const ending = hosts;
  hosts = [];
  await Promise.all(ending.map((host) => host.dispose()));
});

type Started = StartedShell & { readonly ended: Promise<ExitRecord> };

function hostOf(options: Partial<EngineOptions> = {}) {
  const root = new StateRoot(join(directory(), "state"));
  const host = new Engine({ root, environment: { PATH: "/usr/bin:/bin" }, ...options });
  hosts.push(host);
  const start = async (command: string, variables: Record<string, string> = {}): Promise<Started> => {
    let onExit: (record: ExitRecord) => void = () => {};
    const ended = new Promise<ExitRecord>((resolve) => {
      onExit = resolve;
    });
    const started = await host.start({
      command,
      workingDir: tmpdir(),
      variables,
      capBytes: STREAM_CAP_BYTES,
      streams: "split",
      onExit,
      meta: (id) => ({
        version: 1,
        id,
        workingDir: tmpdir(),
        scope: "default",
        session: null,
        createdAt: 1,
        startedUptimeMs: 1,
        deadlineMs: null,
        durable: false,
        host: { pid: 1, startTime: "0" },
        streams: "split",
        capBytes: STREAM_CAP_BYTES,
      }),
    });
    return { ...started, ended };
  };
  /** The waiting slots: directories without a job. */
  const idle = () =>
    root
      .list()
      .filter((id) => readMeta(root.files(id).meta) === undefined)
      .flatMap((id) => readIdentity(root.files(id).identity) ?? []);
  return { host, root, start, idle };
}

describe("starting", () => {
  test("writes the meta of the shell to disk and reports the exit code", async () => {
    const { start } = hostOf();
    const shell = await start("exit 7");
    expect(readMeta(shell.files.meta)).toEqual(shell.meta);
    expect(shell.meta.id).toBe(shell.id);
    expect(await shell.ended).toMatchObject({ code: 7 });
  });

  test.each(["auto", "best-effort"] as const)(
    "many shells at once works, and each has its own exit code (%s)",
    async (containment) => {
      const { start } = hostOf({ containment });
      const count = containment === "auto" ? 100 : 20;
      const started = await Promise.all(Array.from({ length: count }, (_, i) => start(`exit ${i}`)));
      const records = await Promise.all(started.map(({ ended }) => ended));
      expect(records.map(({ code }) => code)).toEqual(Array.from({ length: count }, (_, i) => i));
      expect(new Set(started.map(({ id }) => id)).size).toBe(count);
    },
  );

  test.each([1, 2, 4])("succeeds although %i waiting slots were killed", async (poolSize) => {
    const { host, start, idle } = hostOf({ poolSize });
    await host.ready();
    await eventually(() => expect(idle()).toHaveLength(poolSize));
    // Kill the slots before any process can notice their death.
    for (const { commandPid } of idle()) process.kill(commandPid, "SIGKILL");
    await Promise.all(
      idle().map(({ commandPid }) => eventually(() => expect(isAlive(commandPid)).toBe(false))),
    );
    expect(await (await start("exit 3")).ended).toMatchObject({ code: 3 });
    await eventually(() => {
      expect(idle()).toHaveLength(poolSize);
      for (const { commandPid } of idle()) expect(isAlive(commandPid)).toBe(true);
    }, 20_000);
  });

  test("succeeds although the shim of a waiting slot was killed", async () => {
    const { host, start, idle } = hostOf({ poolSize: 1 });
    await host.ready();
    await eventually(() => expect(idle()).toHaveLength(1));
    const [slot] = idle();
    process.kill(slot?.shimPid ?? Number.NaN, "SIGKILL");
    await eventually(() => expect(isAlive(slot?.shimPid ?? Number.NaN)).toBe(false));
    const go = join(directory(), "go");
    const shell = await start(`until [[ -e ${go} ]]; do sleep 0.02; done; exit 3`);
    expect(shell.shimPid).not.toBe(slot?.shimPid);
    expect(isSameProcess(shell.shimPid, shell.shimStart)).toBe(true);
    writeFileSync(go, "");
    expect(await shell.ended).toMatchObject({ code: 3 });
  });

  test("succeeds after the keeper was killed", async () => {
    const { start, root } = hostOf();
    const first = await start("while [[ ! -e go ]]; do sleep 0.01; done; exit 4");
    process.kill(keeperPid(root.path), "SIGKILL");
    expect(await (await start("exit 5")).ended).toMatchObject({ code: 5 });
    expect(signalGroup(first, "SIGTERM")).toBe("sent");
    expect(await first.ended).toMatchObject({ code: 143 });
  });

  test("is refused after the engine was disposed of", async () => {
    const { host, start } = hostOf();
    await host.ready();
    await host.dispose();
    await host.dispose();
    await expect(start("true")).rejects.toThrow("disposed of");
  });
});

test("a process with the shell's tag belongs to the shell, unless it has another host's key", async () => {
  const { host, start } = hostOf();
  const shell = await start("(ulimit -m 4096; exec sleep 306) & sleep 307");
  const { tag, key } = shell;
  if (tag === undefined || key === undefined) throw new Error("a host has a tag and a key");
  const foreign = key.kib ^ (1n << key.shift);
  const child = spawn("bash", ["-c", `ulimit -x ${tag}; ulimit -m ${foreign}; echo up; exec sleep 308`]);
  try {
    await once(child.stdout, "data");
    await eventually(async () => {
      const found = (await host.processesOf([shell])).get(shell) ?? [];
      const commands = found.map(({ command }) => command).sort();
      expect(commands).toEqual([`bash ${shell.files.command}`, "sleep 306", "sleep 307"]);
    });
  } finally {
    child.kill("SIGKILL");
  }
});

describe.each(["auto", "best-effort"] as const)("with containment %s", (containment) => {
  test("the running processes of a shell are found, without its shim and loggers", async () => {
    const { host, start } = hostOf({ containment });
    const [one, two] = await Promise.all([
      start("setsid sleep 300 & (sleep 301 &); cd /; sleep 302"),
      start("sleep 303"),
    ]);
    await eventually(async () => {
      const found = await host.processesOf([one, two]);
      const commands = (shell: Started) => (found.get(shell) ?? []).map(({ command }) => command).sort();
      expect(commands(one)).toEqual([`bash ${one.files.command}`, "sleep 300", "sleep 301", "sleep 302"]);
      expect(commands(two)).toEqual([`bash ${two.files.command}`, "sleep 303"]);
    });
    expect(host.containment).toBe(containment === "auto" ? "tag" : "best-effort");
    for (const processes of (await host.processesOf([one, two])).values()) {
      for (const process of processes) signalProcess(process, "SIGKILL");
    }
  });

  test("the leftovers of an ended shell are found, and a clean shell has none", async () => {
    const { host, start } = hostOf({ containment });
    const [leaving, clean] = await Promise.all([
      start("setsid sleep 300 & disown"),
      start("true; /bin/true"),
    ]);
    await Promise.all([leaving.ended, clean.ended]);
    // The process has another name until it has called exec.
    await eventually(async () =>
      expect((await host.leftoversOf(leaving)).map(({ command }) => command)).toEqual(["sleep 300"]),
    );
    expect(await host.leftoversOf(clean)).toEqual([]);
    for (const process of await host.leftoversOf(leaving)) signalProcess(process, "SIGKILL");
  });

  test("disposing of the engine ends all shells and all waiting slots", async () => {
    const { host, start, idle } = hostOf({ containment });
    const shell = await start("echo up; sleep 300 & wait");
    await eventually(() => expect(idle()).toHaveLength(2));
    const waiting = idle();
    await host.dispose();
    expect(await shell.ended).toMatchObject({ code: 137 });
    await eventually(() => expect(waiting.some(({ commandPid }) => isAlive(commandPid))).toBe(false));
  });
});

test("a command that was just forked is found although it has no tag yet", async () => {
  const { host, start } = hostOf();
  const shell = await start("sleep 300");
  const tag = shell.tag ?? 0n;
  // A tag number that no shell has.
  const young = { ...shell, tag: tag ^ (1n << (reachOf(tag).shift + 13n)) };
  const found = (await host.processesOf([young])).get(young) ?? [];
  expect(found.map(({ pid }) => pid)).toEqual([shell.commandPid]);
  for (const process of found) signalProcess(process, "SIGKILL");
  await shell.ended;
  expect((await host.processesOf([young])).get(young)).toEqual([]);
});

describe("signals", () => {
  test("reach a process only if both its PID and its start time match", async () => {
    const { start } = hostOf();
    const shell = await start("sleep 300 & wait");
    const self = { pid: shell.commandPid, startTime: shell.commandStart };
    expect(signalProcess({ ...self, startTime: "1" }, "SIGKILL")).toBe("gone");
    expect(isAlive(shell.commandPid)).toBe(true);
    expect(signalProcess(self, "SIGKILL")).toBe("sent");
    expect(await shell.ended).toMatchObject({ code: 137 });
    expect(signalProcess(self, "SIGKILL")).toBe("gone");
    expect(signalGroup(shell, "SIGKILL")).toBe("gone");
  });

  test("reach only the process group of the command", async () => {
    const { host, start } = hostOf();
    const shell = await start("setsid sleep 300 & sleep 301");
    // The process may still be in the group until it has called exec.
    await eventually(async () => {
      const found = (await host.processesOf([shell])).get(shell) ?? [];
      expect(found.map(({ command }) => command)).toEqual(expect.arrayContaining(["sleep 300", "sleep 301"]));
    });
    expect(signalGroup({ ...shell, commandStart: "1" }, "SIGKILL")).toBe("gone");
    expect(signalGroup(shell, "SIGTERM")).toBe("sent");
    await shell.ended;
    // bash exits without waiting for its signalled child.
    await eventually(async () => {
      const left = (await host.processesOf([shell])).get(shell) ?? [];
      expect(left.map(({ command }) => command)).toEqual(["sleep 300"]);
    });
    for (const process of (await host.processesOf([shell])).get(shell) ?? [])
      signalProcess(process, "SIGKILL");
  });

  test("are not sent to a process with another PID or start time", () => {
    expect(isSameProcess(process.pid, thisProcess().startTime)).toBe(true);
    expect(isSameProcess(2 ** 22 + 1, "1")).toBe(false);
  });
});
