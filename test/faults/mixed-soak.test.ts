// One host does mixed work for a long time. Of a hundred commands, ten time out, ten are killed and five
// print 10 MB. One durable shell runs in a second host: the test kills that host, and the first host adopts
// the shell. At the end nothing has grown and nothing is left. `npm run long -- soak --commands N` sets the
// number of commands; npm test runs a few.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { lockLimit } from "../../src/engine/process-table.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import type { ShellManager } from "../../src/shell-manager.ts";
import { attempt } from "../../src/support/attempt.ts";
import { useDurables } from "../fixtures/durable.ts";
import { keeperPid, Mark } from "../fixtures/marked.ts";
import { stateOf } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import { SpecialHost } from "../fixtures/special-host.ts";

const shells = useShells();
const durables = useDurables(shells);

const COMMANDS = Number(process.env["NACRE_SOAK_COMMANDS"] ?? 200);
const IN_FLIGHT = 8;
const PRINTED_BYTES = 10 * 1024 ** 2;
/** In a short run, half of what its first half prints, so that even a short run has something to sweep. */
const QUOTA_BYTES = Math.min(256, COMMANDS / 8) * 1024 ** 2;
/** Tolerance for noise from the garbage collector during the second half of a run. */
const HEAP_GROWTH_MAX_BYTES = 1024 ** 2;
const BUFFER_GROWTH_MAX_BYTES = 256 * 1024;

const collectGarbage = (() => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
})();

type Kind = "ordinary" | "session" | "timeout" | "kill" | "print" | "host";

/** The kind of command number i. The kinds are spread over every hundred commands. */
function kindOf(i: number): Kind {
  const place = (i * 37) % 100;
  if (place < 10) return "timeout";
  if (place < 20) return "kill";
  if (place < 25) return "print";
  if (place < 26) return "host";
  return place < 50 ? "session" : "ordinary";
}

test(`${COMMANDS} commands of all kinds: each ends as expected, nothing grows, nothing is left`, {
  timeout: 3_600_000,
}, async () => {
  const root = durables.root();
  const manager = durables.manager(root, {
    maxLiveShells: 100,
    killGraceMs: 100,
    quotaBytes: QUOTA_BYTES,
  });
  const run = new MixedRun(manager, root);
  onTestFinished(() => run.closeIdle());
  await run.commands(0, COMMANDS / 4);
  await run.closeIdle();
  const tag = hostTag(keeperPid(root));
  const before = { fds: openFiles(), running: tagged(tag).alive.length };
  await run.commands(COMMANDS / 4, COMMANDS / 2);
  // This host has not swept the state root. The next host sweeps it when it starts its first shell.
  const spool = [await sweptByNextHost(root)];
  const held: { readonly heap: number; readonly buffers: number }[] = [];
  for (let part = 0; part < 10; part++) {
    await run.commands(COMMANDS / 2 + (part * COMMANDS) / 20, COMMANDS / 2 + ((part + 1) * COMMANDS) / 20);
    manager.cleanupCompleted({ maxAgeSeconds: 0 });
    // Collect twice: the second collection begins only after all buffers of the first one are freed.
    collectGarbage();
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    held.push({ heap: heapUsed, buffers: external });
  }
  await run.closeIdle();
  expect(run.wrong).toEqual([]);
  await eventually(() => expect(openFiles()).toBeLessThanOrEqual(before.fds));
  const fds = openFiles() - before.fds;
  const heap = growth(held.map(({ heap }) => heap));
  expect(heap).toBeLessThanOrEqual(HEAP_GROWTH_MAX_BYTES);
  // Buffers are outside the heap.
  expect(growth(held.map(({ buffers }) => buffers))).toBeLessThanOrEqual(BUFFER_GROWTH_MAX_BYTES);
  // Check while the keeper lives: other processes reap the zombies of a dead keeper.
  await eventually(() => {
    const { alive, zombies } = tagged(tag);
    expect(zombies).toEqual([]);
    expect(alive.slice(before.running)).toEqual([]);
  });
  await manager.dispose();
  await eventually(() => expect(tagged(tag)).toEqual({ alive: [], zombies: [] }));
  // Check the processes of the other hosts, too, without using nacre's tags.
  await eventually(() => expect(run.sleepers.processes()).toEqual([]));
  spool.push(await sweptByNextHost(root));

  console.log(
    `${COMMANDS} commands: fds +${Math.max(0, fds)}, heap ${(heap / 1024).toFixed(0)} KiB over the second half, ` +
      `0 processes, 0 zombies, spool at most ${(Math.max(...spool) / 1024 ** 2).toFixed(0)} of ${QUOTA_BYTES / 1024 ** 2} MiB`,
  );
});

/** The size of the state root after another host has cleaned it up. */
async function sweptByNextHost(root: string): Promise<number> {
  const next = durables.manager(root, { quotaBytes: QUOTA_BYTES });
  await shells.run(next, "true");
  // Poll rarely: reading thousands of directories delays the sweep itself.
  let size = sizeOf(root);
  for (let polls = 0; size > QUOTA_BYTES && polls < 240; polls++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    size = sizeOf(root);
  }
  expect(size).toBeLessThanOrEqual(QUOTA_BYTES);
  await next.dispose();
  return size;
}

class MixedRun {
  readonly wrong: unknown[] = [];
  /** Sleeps that last longer than the run. */
  readonly sleepers = new Mark();
  readonly #manager: ShellManager;
  readonly #root: string;
  /** The next host to kill. It is started in advance because starting a host is the slowest step. */
  #victim: Promise<SpecialHost> | undefined;

  constructor(manager: ShellManager, root: string) {
    this.#manager = manager;
    this.#root = root;
  }

  async commands(from: number, to: number): Promise<void> {
    let next = Math.ceil(from);
    const work = async () => {
      while (next < to) {
        const i = next++;
        try {
          await this.#one(i);
        } catch (error) {
          this.wrong.push({ i, kind: kindOf(i), error: String(error) });
        }
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  }

  /** Ends the second host, and the sessions, which are only waiting for the next command. */
  async closeIdle(): Promise<void> {
    const victim = await this.#victim;
    this.#victim = undefined;
    await victim?.leave();
    await Promise.all(this.#manager.listSessions().map((session) => session.close()));
  }

  async #one(i: number): Promise<void> {
    const kind = kindOf(i);
    if (kind === "session") return await this.#inSession(i);
    if (kind === "host") return await this.#killHost(i);
    const start = async (command: string, timeoutMs?: number) =>
      await this.#manager.createShell({
        command,
        workingDir: "/",
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
    if (kind === "timeout") {
      // Every second command ignores TERM.
      const sleep = `sleep ${this.sleepers.next()}`;
      const command = i % 2 === 0 ? sleep : `trap '' TERM; ${sleep}`;
      await this.#expect(i, await start(command, 50), "timeout", null);
    } else if (kind === "kill") {
      const [far, near] = [this.sleepers.next(), this.sleepers.next()];
      const shell = await start(`setsid sleep ${far} & echo up; sleep ${near}`);
      await shell.waitFor({ pattern: /up/ }, 20_000);
      const { survivors } = await shell.kill();
      if (survivors.length > 0) this.wrong.push({ i, survivors });
      await this.#expect(i, shell, "killed", null);
    } else if (kind === "print") {
      const shell = await start(`head -c ${PRINTED_BYTES} /dev/zero | tr '\\0' x`);
      await this.#expect(i, shell, "completed", 0);
      const { size } = statSync(shell.started.files.stdout);
      if (size !== PRINTED_BYTES) this.wrong.push({ i, size });
    } else {
      const shell = await start(`echo ${i}; exit ${i % 3}`);
      await this.#expect(i, shell, i % 3 === 0 ? "completed" : "failed", i % 3);
      if (shell.getAllOutput() !== `${i}\n`) this.wrong.push({ i, output: shell.getAllOutput() });
      this.#manager.forget(shell);
    }
  }

  async #inSession(i: number): Promise<void> {
    const session = this.#manager.session(`session-${i % 4}`, { workingDir: "/" });
    const code = i % 50 === 7 ? 5 : 0;
    const { exitCode } = await session.run(`x=${i}; echo "$x"${code === 0 ? "" : "; exit 5"}`);
    if (exitCode !== code) this.wrong.push({ i, exitCode });
  }

  /** Another host starts a durable shell and is killed. The shell exits by itself, and this host finds its exit code. */
  async #killHost(i: number): Promise<void> {
    const victim = await (this.#victim ?? this.#newVictim());
    this.#victim = undefined;
    const { id } = await victim.start({ command: `sleep 0.3; echo ${i}; exit 7`, durable: true });
    const plain = await victim.start({ command: `sleep ${this.sleepers.next()}` });
    await victim.kill();
    this.#victim = this.#newVictim();
    await eventually(async () => {
      await this.#manager.adopt();
      expect(this.#manager.listShells().map((shell) => shell.id)).toContain(id);
    }, 20_000);
    const shell = this.#manager.getShell(id);
    if (!shell) throw new Error("the durable shell is gone");
    await this.#expect(i, shell, "failed", 7);
    if (shell.getAllOutput() !== `${i}\n`) this.wrong.push({ i, output: shell.getAllOutput() });
    const ended = this.#manager.getShell(plain.id);
    await eventually(() => expect(ended?.status).toBe("killed"), 20_000);
  }

  async #newVictim(): Promise<SpecialHost> {
    const victim = new SpecialHost();
    await victim.manager({ stateRoot: this.#root });
    return victim;
  }

  async #expect(i: number, shell: ShellProcess, status: string, exitCode: number | null): Promise<void> {
    try {
      await shell.wait(60_000);
    } catch {
      this.wrong.push({ i, hangs: describe(shell) });
      return;
    }
    const code = status === "timeout" || status === "killed" ? null : shell.exitCode;
    if (shell.status !== status || code !== exitCode)
      this.wrong.push({ i, status: shell.status, exitCode: shell.exitCode });
  }
}

/** Details of a shell that should have ended, for the error message. */
function describe({ started, status, command }: ShellProcess): unknown {
  const { shimPid, commandPid, tag, files } = started;
  return {
    command,
    status,
    shim: stateOf(shimPid),
    bash: stateOf(commandPid),
    tagged: processesWithLimit((limit) => limit === String(tag)).map(
      ({ pid, state }) => `${pid} ${commOf(pid)} ${state}`,
    ),
    record: readFileSync(files.record, "latin1").replace(/ +/g, " "),
  };
}

function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Growth over all values, from the slope of their regression line. */
function growth(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const slope =
    values.reduce((sum, value, i) => sum + (i - middle) * (value - mean), 0) /
    values.reduce((sum, _, i) => sum + (i - middle) ** 2, 0);
  return slope * values.length;
}

/** The total size of all files in the tree. A file that is removed in the meantime does not count. */
function sizeOf(dir: string): number {
  return (attempt(() => readdirSync(dir, { withFileTypes: true })) ?? []).reduce((bytes, entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return bytes + sizeOf(path);
    return entry.isFile() ? bytes + (statSync(path, { throwIfNoEntry: false })?.size ?? 0) : bytes;
  }, 0);
}

/** The common prefix of the tags of all processes that a keeper starts. */
function hostTag(pid: number): string {
  return hostPart(lockLimit(pid) ?? "");
}

function hostPart(limit: string): string {
  return /^\d+$/.test(limit) ? String(BigInt(limit) >> 52n) : "none";
}

function tagged(tag: string): { alive: string[]; zombies: string[] } {
  const found = processesWithLimit((limit) => tag !== "none" && hostPart(limit) === tag);
  const named = (isZombie: boolean) =>
    found.filter(({ state }) => (state === "Z") === isZombie).map(({ pid }) => `${pid} ${commOf(pid)}`);
  return { alive: named(false), zombies: named(true) };
}

function processesWithLimit(matches: (limit: string) => boolean): { pid: string; state: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => matches(lockLimit(Number(pid)) ?? ""))
    .map((pid) => ({ pid, state: stateOf(Number(pid)) }))
    .filter(({ state }) => state !== "gone");
}

function commOf(pid: string): string {
  return attempt(() => readFileSync(`/proc/${pid}/comm`, "latin1").trim()) ?? "";
}
