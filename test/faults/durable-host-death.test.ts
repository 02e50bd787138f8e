// A host's durable shells keep running, however the host ends. The next host finds their exit status and all
// of their output.
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CreateShellOptions } from "../../src/shell/manager-options.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { POOL_SLOTS_COUNT } from "../../src/support/limits.ts";
import { useDurables, waiting } from "../fixtures/durable.ts";
import { isLong } from "../fixtures/long.ts";
import { Mark, processesWith } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import type { SpecialHost } from "../fixtures/special-host.ts";

const shells = useShells();
const durables = useDurables(shells);

const DEATHS: readonly (readonly [string, (host: SpecialHost) => Promise<unknown>])[] = [
  ["exits normally", (host) => host.leave()],
  ["calls process.exit()", (host) => host.dieOf("exit", { code: 3 })],
  ["gets SIGTERM", (host) => host.kill("SIGTERM")],
  ["gets SIGHUP", (host) => host.kill("SIGHUP")],
  ["is killed", (host) => host.kill()],
  ["disposes of its manager", (host) => host.ask("dispose")],
];

test("a durable shell keeps running however its host ends; a shell that is not durable ends", async () => {
  // Run the cases in parallel: each mostly waits.
  await Promise.all(DEATHS.map(([how, die]) => outlive(how, die)));
});

async function outlive(how: string, die: (host: SpecialHost) => Promise<unknown>): Promise<void> {
  const root = durables.root();
  const go = join(shells.directory(), "go");
  const marks = new Mark();
  const host = await durables.host(root);
  const durable = await host.start({
    command: `echo up; echo warned >&2; until [[ -e ${go} ]]; do sleep 0.02; done; echo done; exit 7`,
    durable: true,
  });
  const mortal = await host.start({ command: `echo up; sleep ${marks.next()}` });
  for (const { id } of [durable, mortal]) await host.ask("waitForLine", { id, line: "^up$" });
  await die(host);
  await eventually(() => expect(marks.processes(), how).toEqual([]));

  const manager = durables.manager(root);
  const adopted = await manager.adopt();
  expect(
    adopted.map(({ id }) => id),
    how,
  ).toEqual([durable.id]);
  const [shell] = adopted;
  expect(shell?.status, how).toBe("running");
  writeFileSync(go, "");
  expect(await shell?.wait(20_000), how).toBe(7);
  expect(shell?.getAllOutput(), how).toBe("up\ndone\n[stderr]\nwarned\n");
  expect(shell?.remarks, how).toEqual([]);
  expect(manager.getShell(mortal.id)?.outcome, how).toMatchObject({ kind: "killed" });
}

test("the keeper of a dead host exits after its last durable shell, and leaves nothing behind", async () => {
  const root = durables.root();
  const go = shells.directory();
  const host = await durables.host(root);
  const started = [];
  for (const name of ["first", "second"]) {
    const command = `until [[ -e ${join(go, name)} ]]; do sleep 0.02; done; echo ${name}`;
    started.push(await host.start({ command, durable: true }));
  }
  // Wait for all slots, because a slot that is still starting is not in any list yet.
  await eventually(() => expect(waiting(root)).toHaveLength(POOL_SLOTS_COUNT));
  await host.kill();
  const keepers = join(root, "keepers");
  const manager = durables.manager(root);
  for (const [index, name] of ["first", "second"].entries()) {
    expect(readdirSync(keepers)).toEqual([expect.stringMatching(`^${host.pid}-`)]);
    writeFileSync(join(go, name), "");
    const shell = manager.getShell(started[index]?.id ?? "");
    expect(await shell?.wait(20_000)).toBe(0);
    expect(shell?.getAllOutput()).toBe(`${name}\n`);
  }
  await eventually(() => expect(processesWith(root)).toEqual([]));
  expect(readdirSync(keepers)).toEqual([]);
  expect(readdirSync(join(root, "shells")).sort()).toEqual(started.map(({ id }) => id).sort());
});

test("leftovers of a durable shell end after the shell exits without a host", async () => {
  const root = durables.root();
  const marks = new Mark();
  const go = join(shells.directory(), "go");
  const host = await durables.host(root);
  const { id } = await host.start({
    command: `setsid sleep ${marks.next()} & echo up; until [[ -e ${go} ]]; do sleep 0.02; done; exit 4`,
    durable: true,
  });
  await host.ask("waitForLine", { id, line: "^up$" });
  await eventually(() => expect(marks.processes()).toHaveLength(1));
  await host.kill();
  expect(marks.processes()).toHaveLength(1);
  writeFileSync(go, "");
  await eventually(() => expect(marks.processes()).toEqual([]));
  expect(durables.manager(root).getShell(id)?.exitCode).toBe(4);
});

test("a dead host's finished shell, durable or not, is found by its id, but not by other scopes", async () => {
  const root = durables.root();
  const host = await durables.host(root);
  const ids: string[] = [];
  for (const durable of [true, false]) {
    const { id } = await host.start({ command: `echo ${durable}; exit 9`, durable, scope: "mine" });
    await host.wait(id);
    ids.push(id);
  }
  await host.kill();
  const manager = durables.manager(root);
  for (const [index, id] of ids.entries()) {
    expect(manager.getShell(id, { scope: "another" })).toBeUndefined();
    const shell = manager.getShell(id, { scope: "mine" });
    expect(shell?.status).toBe("failed");
    expect(shell?.exitCode).toBe(9);
    expect(shell?.remarks).toEqual([]);
    expect(shell?.getAllOutput()).toBe(`${index === 0}\n`);
    expect(manager.find(id.slice(6, 12))?.id).toBe(id);
  }
});

// --- kills at random moments ------------------------------------------------------------------------

const ROUNDS = isLong ? 60 : 5;
const SHELLS = 4;

/** A command with pauses between its lines on both streams, no final newline, and its own exit code. */
function checkable(seed: number): { plan: CreateShellOptions; stdout: string; stderr: string; code: number } {
  const lines = Array.from({ length: 12 }, (_, line) => `${seed}-${line}`);
  const code = (seed * 37) % 256;
  return {
    plan: {
      command: [
        `for i in {0..11}; do echo ${seed}-$i; echo e${seed}-$i >&2; ((i % 4)) || sleep 0.0${seed % 9}; done`,
        `seq ${2_000 + seed}; printf end; exit ${code}`,
      ].join("\n"),
      workingDir: "/",
      durable: true,
    },
    stdout: `${[...lines, ...Array.from({ length: 2_000 + seed }, (_, n) => n + 1)].join("\n")}\nend`,
    stderr: `${lines.map((line) => `e${line}`).join("\n")}\n`,
    code,
  };
}

test(`durable shells of ${ROUNDS} hosts that are killed at random moments lose no byte and no exit code`, {
  timeout: Math.max(120_000, ROUNDS * 10_000),
}, async ({ annotate }) => {
  const counts = { complete: 0, neverStarted: 0, none: 0 };
  // Run four rounds at a time: each mostly waits.
  for (let done = 0; done < ROUNDS; done += 4) {
    const rounds = Array.from({ length: Math.min(4, ROUNDS - done) }, (_, index) => killOne(done + index));
    for (const { found, ends } of await Promise.all(rounds)) {
      counts.none += SHELLS - found;
      for (const end of ends) counts[end]++;
    }
  }
  await annotate(JSON.stringify(counts));
  expect(counts.complete).toBeGreaterThan(0);
});

async function killOne(round: number) {
  const root = durables.root();
  const host = await durables.host(root);
  const plans = Array.from({ length: SHELLS }, (_, index) => checkable(round * SHELLS + index + 1));
  const reported = new Set<string>();
  // Kill the host delayMs after this many starts: the moment can be before the first start or after the last.
  const [startsBeforeKill, delayMs] = [randomInt(0, SHELLS + 1), randomInt(0, 120)];
  const killSoon = () => void setTimeout(() => void host.kill(), delayMs);
  if (startsBeforeKill === 0) killSoon();
  await host.startMany(
    plans.map(({ plan }) => plan),
    (id) => {
      reported.add(id);
      if (reported.size === startsBeforeKill) killSoon();
    },
  );
  await host.kill();

  const manager = durables.manager(root);
  await manager.adopt();
  const found = manager.findAll();
  // Every shell that the host has reported exists.
  expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining([...reported]));
  const ends = await Promise.all(found.map((shell) => expectComplete(shell, plans, reported.has(shell.id))));
  await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
  return { found: found.length, ends };
}

async function expectComplete(
  shell: ShellProcess,
  plans: readonly ReturnType<typeof checkable>[],
  reported: boolean,
): Promise<"complete" | "neverStarted"> {
  await shell.wait(20_000);
  const plan = plans.find(({ plan }) => plan.command === shell.command);
  if (!plan) throw new Error(`no plan for ${shell.command}`);
  if (!reported && shell.outcome?.kind === "failedToStart") {
    expect(shell.getAllOutput()).toBe("");
    return "neverStarted";
  }
  expect(shell.exitCode).toBe(plan.code);
  expect(shell.remarks).toEqual([]);
  expect(readFileSync(shell.outputFiles.stdout, "utf8")).toBe(plan.stdout);
  expect(readFileSync(shell.outputFiles.stderr, "utf8")).toBe(plan.stderr);
  return "complete";
}
