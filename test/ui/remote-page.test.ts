// Remote machines on the page: real daemons behind a command link, an unreachable one and a hostile one.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../fixtures/eventually.ts";
import { type RemotePlace, remotePlace } from "../remote/remote-place.ts";
import { noBrowser, picture, row, shown, useBrowser, violationsOf } from "./browser.ts";
import { scriptedMachine } from "./scripted-machine.ts";
import { program, type UiProgram, useUi } from "./ui-program.ts";

const places: RemotePlace[] = [];
// Register this hook before useUi's hook, so that it runs last. A page that is still open would restart the daemon.
afterEach(async () => {
  for (const place of places.splice(0)) {
    const env = { PATH: process.env["PATH"], HOME: place.dir, NACRE_HOME: place.state };
    execFileSync(process.execPath, [program, "kill", "--all"], { env, stdio: "ignore" });
    await place.end();
  }
});

const create = useUi();
const open = useBrowser();

function newPlace(dir: string, name = "far"): RemotePlace {
  const base = join(dir, name);
  mkdirSync(base);
  const place = remotePlace(base);
  places.push(place);
  return place;
}

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

interface State {
  readonly shells: { id: string; machine: string | null; command: string }[];
  readonly machines: { state: string; cause: string | null; url: string }[];
}

/** Returns the state that the server reports while a page is connected. */
async function stateOf(server: UiProgram): Promise<State> {
  return (await (await server.api("/api/shells")).json()) as State;
}

/** Keeps an event stream open during `use`, as a page does. */
async function connected(server: UiProgram, use: () => Promise<void>): Promise<void> {
  const ending = new AbortController();
  const response = await server.api("/api/events", { signal: ending.signal });
  const reading = (async () => {
    for await (const _ of response.body ?? []);
  })().catch(() => {});
  try {
    await use();
  } finally {
    ending.abort();
    await reading;
  }
}

describe.skipIf(noBrowser !== undefined)("a remote machine on the page", () => {
  test("has shells that can be listed, followed, searched and killed", async () => {
    const { ui, dir, start, nacre } = create();
    const far = newPlace(dir);
    start("echo near; exec sleep 1000", "--name", "here");
    const id = nacre(
      "--remote",
      far.url,
      "run",
      "-b",
      "--durable",
      "--name",
      "there",
      "echo far; sleep 1000 & sleep 1000",
    ).trim();
    const { page, errors } = await open(await ui("--control", "--remote", far.url));
    await shown(page, ".machine", "1 shell");
    await shown(page, "button.row .facts", "on command:");
    await row(page, "there").click();
    await shown(page, ".log .ln", "far");
    await shown(page, ".facts-list", far.dir);
    await shown(page, ".facts-list dd", new RegExp(`^${id}$`));
    await page.keyboard.press("s");
    await page.keyboard.type("^far$");
    await page.keyboard.press("Enter");
    await shown(page, ".log-note", "1 line matches in 1 line");
    await page.getByRole("button", { name: "Processes" }).click();
    await shown(page, ".processes", "waits for a timer");
    expect(await violationsOf(page)).toEqual([]);
    const kill = page.locator('[data-action="kill"]');
    await kill.click();
    await kill.click();
    await shown(page, ".outcome", "found nothing left");
    await shown(page, ".card h2", "killed by the page");
    await shown(page, "button.row", "near");
    expect(errors).toEqual([]);
  });

  test("that cannot be reached shows the cause, keeps its last rows, and reconnects", async () => {
    const { ui, dir, nacre } = create();
    const far = newPlace(dir);
    nacre("--remote", far.url, "run", "-b", "--durable", "--name", "there", "echo far; exec sleep 1000");
    const { page } = await open(await ui("--control", "--remote", far.url));
    await row(page, "there").click();
    await shown(page, ".log .ln", "far");
    // Make the client program fail to start, and cut the link.
    chmodSync(join(far.dir, "client.sh"), 0o644);
    for (const pid of far.links()) process.kill(pid, "SIGKILL");
    await shown(page, ".machine", "unreachable for");
    await shown(page, ".machine-cause", /client\.sh.*nacre connects again by itself/s);
    await shown(page, "button.row.stale", "last known: running");
    await shown(page, ".log-note", "The machine cannot be reached. What you see is the last known state.");
    expect(await page.locator(".card-head .dot.stale").count()).toBe(1);
    expect(await page.locator('[data-action="kill"]').isHidden()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await picture(page, "ui-machine-unreachable");
    chmodSync(join(far.dir, "client.sh"), 0o755);
    await shown(page, ".machine", "1 shell");
    expect(await page.locator("button.row.stale").count()).toBe(0);
    await shown(page, ".card h2", /^running$/);
  });
});

test("a terminal of a remote machine shows its screen and accepts input", async () => {
  const { ui, dir, nacre } = create();
  const far = newPlace(dir);
  const command = 'read -rsp "Password: " secret; echo; echo -n "$secret" | wc -c; exec sleep 1000';
  nacre("--remote", far.url, "run", "-b", "--durable", "--terminal", "--policy", "off", command);
  const server = await ui("--control", "--remote", far.url);
  await connected(server, async () => {
    await eventually(async () => expect((await stateOf(server)).shells).toMatchObject([{ machine: "m1" }]));
    const { shells } = await stateOf(server);
    const id = shells[0]?.id ?? "";
    expect(
      (await server.api(`/api/shells/${id}/type`, post({ text: "12345", keys: ["Enter"] }))).status,
    ).toBe(200);
    const ending = new AbortController();
    const screen = await server.api(`/api/shells/${id}/screen`, { signal: ending.signal });
    let text = "";
    for await (const chunk of screen.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (/"5"/.test(text)) break;
    }
    ending.abort();
    expect((await server.api(`/api/shells/${id}/kill`, post({}))).status).toBe(200);
  });
});

test("a read-only page cannot end the shells of a remote machine", async () => {
  const { ui, dir, nacre } = create();
  const far = newPlace(dir);
  const there = nacre("--remote", far.url, "run", "-b", "--durable", "exec sleep 1000").trim();
  const server = await ui("--remote", far.url);
  await connected(server, async () => {
    await eventually(async () => expect((await stateOf(server)).shells).toHaveLength(1));
    expect((await server.api(`/api/shells/m1.${there}/kill`, post({}))).status).toBe(403);
  });
  expect(JSON.parse(nacre("--remote", far.url, "ps", "--json")).shells).toMatchObject([
    { status: "running" },
  ]);
  nacre("--remote", far.url, "kill", "--all");
});

test("from a hostile machine, the page accepts only text of limited size", async () => {
  const { ui, dir } = create();
  const url = scriptedMachine(dir, {
    changes: [{ shells: HOSTILE_ROWS, gone: 3 }],
    result: { processes: "none", lines: 3, matches: {} },
  });
  const server = await ui("--control", "--remote", url);
  await connected(server, async () => {
    await eventually(async () => expect((await stateOf(server)).shells).toHaveLength(1));
    const { shells } = await stateOf(server);
    expect(shells).toMatchObject([
      {
        id: "m1.shell_00000001",
        shell_id: "shell_00000001",
        machine: "m1",
        name: null,
        ports: [],
        cpu_percent: 0,
        attention: "running",
        waiting: "no",
      },
    ]);
    expect(shells[0]?.command).toHaveLength(4_000);
    expect(shells[0]).not.toHaveProperty("extra");
    expect((await server.api("/api/shells/m1.shell_00000001/search?q=x")).status).toBe(200);
    expect(await (await server.api("/api/shells/m1.shell_00000001/processes")).json()).toEqual({
      processes: [],
      silent_ms: 0,
    });
  });
});

test("the server ends on a signal even if a machine sent output for a stream that the page had closed", async () => {
  const { ui, dir } = create();
  const changes = [{ shells: [{ id: "shell_00000001" }], gone: [] }];
  const server = await ui("--remote", scriptedMachine(dir, { changes, sendsLate: true }));
  await connected(server, async () => {
    const hasShells = async (count: number) =>
      await eventually(async () => expect((await stateOf(server)).shells).toHaveLength(count));
    await hasShells(1);
    const closing = new AbortController();
    const output = server.api("/api/shells/m1.shell_00000001/output", { signal: closing.signal });
    await hasShells(0);
    closing.abort();
    await expect(output).rejects.toThrow();
    await hasShells(1);
  });
  await server.stop();
});

test.each([
  [["--remote", "ssh://-oProxyCommand=x"], "ssh://-oProxyCommand=x"],
  [["--remote", "gopher://host"], "gopher"],
])("a wrong address is refused before the page is served: %j", (words, named) => {
  const { nacre } = create();
  expect(JSON.parse(nacre("ui", "--json", "--no-open", "--port", "0", ...words)).error).toContain(named);
});

/** Rows with fields of wrong types, wrong ids and wrong sizes. */
const HOSTILE_ROWS = [
  {
    ...{
      id: "shell_00000001",
      name: { toString: 1 },
      command: "x".repeat(1e6),
      ports: "all",
      cpu_percent: "NaN",
    },
    ...{ attention: "<b>", waiting: {}, extra: "dropped", scope: 7, created_at: "1", shell_id: "<b>" },
  },
  { id: "../../../etc/passwd" },
  { id: 5 },
  null,
  "row",
];
