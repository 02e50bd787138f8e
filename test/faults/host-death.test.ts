// No process that a host started outlives it, however the host ends.
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEndRecord } from "../../src/engine/end-record.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { ESCAPES, escapeCommand, escaped } from "../fixtures/escapes.ts";
import { type HostPlan, type HostProgram, useHosts } from "../fixtures/host-program.ts";
import { Mark, processesWith } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
const startHost = useHosts();

interface Death {
  readonly title: string;
  readonly ending?: HostPlan["ending"];
  readonly signal?: NodeJS.Signals;
  readonly exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null };
}

const DEATHS: readonly Death[] = [
  { title: "is killed", signal: "SIGKILL", exit: { code: null, signal: "SIGKILL" } },
  { title: "gets SIGTERM", signal: "SIGTERM", exit: { code: null, signal: "SIGTERM" } },
  { title: "gets SIGINT", signal: "SIGINT", exit: { code: null, signal: "SIGINT" } },
  { title: "gets SIGHUP", signal: "SIGHUP", exit: { code: null, signal: "SIGHUP" } },
  { title: "crashes", signal: "SIGSEGV", exit: { code: null, signal: "SIGSEGV" } },
  { title: "exits normally", ending: "return", exit: { code: 0, signal: null } },
  { title: "calls process.exit()", ending: "exit", exit: { code: 3, signal: null } },
  { title: "throws an error that is not caught", ending: "throw", exit: { code: 1, signal: null } },
  { title: "has an unhandled rejection", ending: "reject", exit: { code: 1, signal: null } },
];

for (const { title, ending, signal, exit } of DEATHS) {
  test(`no escape is left within a second after the host ${title}`, async ({ annotate }) => {
    const possible = ESCAPES.filter(({ impossible }) => impossible?.() === undefined);
    const marks = new Mark();
    const dir = directory();
    const started = possible.map(({ kind }) => ({ kind, mark: marks.next() }));
    const commands = started.map(
      ({ kind, mark }) => `${escapeCommand(kind, mark, dir)}; echo ready; sleep ${marks.next()}`,
    );
    const options = { stateRoot: join(dir, "state") };
    const host = await startHost({ options, commands, ...(ending ? { ending } : {}) }, dir);
    for (const { kind, mark } of started) await escaped(kind, mark, marks);

    if (signal) host.child.kill(signal);
    else host.end();
    expect(await host.exited).toEqual(exit);
    const began = performance.now();
    await eventually(() => expect(marks.processes()).toEqual([]));
    await annotate(`nothing left after ${Math.round(performance.now() - began)} ms`);
    await expectRecorded(join(dir, "state"), host);
  });
}

/** The shims outlive the host long enough to record that it ended. */
async function expectRecorded(stateRoot: string, { shells }: HostProgram): Promise<void> {
  const root = new StateRoot(stateRoot);
  await eventually(() => {
    for (const { id } of shells) {
      expect(readEndRecord(root.files(id).record)).toMatchObject({
        exit: { code: 137 },
        cause: { kind: "host-ended" },
      });
    }
  });
  // No keeper, shim or logger is left, and no directory of a slot that never got a command.
  await eventually(() => expect(processesWith(stateRoot)).toEqual([]));
  expect(root.list().sort()).toEqual(shells.map(({ id }) => id).sort());
}

test("leftovers of a finished shell end with the host", async () => {
  const marks = new Mark();
  const dir = directory();
  const mark = marks.next();
  const commands = [`${escapeCommand("bare-daemon", mark, dir)}; echo ready`];
  const host = await startHost({ options: { stateRoot: join(dir, "state") }, commands }, dir);
  await escaped("bare-daemon", mark, marks);
  host.child.kill("SIGKILL");
  await host.exited;
  await eventually(() => expect(marks.processes()).toEqual([]));
});

test("the death of one host does not affect the shells of another host", async () => {
  const marks = new Mark();
  const dir = directory();
  const [first, second] = [marks.next(), marks.next()];
  const start = (mark: string) =>
    startHost({ options: { stateRoot: join(dir, "state") }, commands: [`echo ready; sleep ${mark}`] }, dir);
  const dying = await start(first);
  const living = await start(second);
  await eventually(() => expect(marks.processes()).toHaveLength(2));
  dying.child.kill("SIGKILL");
  await dying.exited;
  await eventually(() => expect(marks.processes(first)).toEqual([]));
  // The keeper of the dead host has cleaned up and exited. It has not ended any process of the other host.
  await eventually(() => expect(processesWith(`${join(dir, "state")}/keepers/${dying.pid}-`)).toEqual([]));
  expect(marks.processes(second)).toHaveLength(1);
  living.child.kill("SIGKILL");
  await living.exited;
  await eventually(() => expect(marks.processes()).toEqual([]));
});
