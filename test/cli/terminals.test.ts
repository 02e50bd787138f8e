// nacre run --terminal, nacre send and nacre attach.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";
import { atTerminal } from "./terminal.ts";

const { nacre, dir } = useCli();
const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

async function start(command: string, ...options: string[]): Promise<string> {
  const { stdout, stderr, code } = await nacre(
    "run",
    "-b",
    "--terminal",
    "--policy",
    "off",
    ...options,
    command,
  );
  expect(stderr + code).toContain("0");
  return stdout.trim();
}

async function screen(id: string): Promise<Record<string, unknown>> {
  return JSON.parse((await nacre("send", id, "--json")).stdout);
}

test("nacre send types text, presses keys, and prints the screen", async () => {
  const id = await start(
    "read -rp 'name? ' name; echo hello $name; read -rs secret; sleep 1000",
    "--rows",
    "10",
    "--cols",
    "40",
  );
  await eventually(async () =>
    expect(await screen(id)).toMatchObject({ waiting: "line", cursor: { row: 1, col: 7 } }),
  );
  const sent = await nacre("send", id, "bob", "--key", "Enter");
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining("hello bob") });
  expect((await screen(id))["screen"]).toHaveLength(10);
  await eventually(async () => expect(await screen(id)).toMatchObject({ waiting: "secret" }));
  const refused = await nacre("send", id, "hunter2", "--enter");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`nacre attach ${id}`) });
  expect(await nacre("send", id, "--keys", "Ctrl-C")).toMatchObject({ code: 0 });
  await eventually(async () => expect(await screen(id)).toMatchObject({ is_running: false, waiting: "no" }));
});

test("invalid input is refused: no terminal, an unknown key, wrong options", async () => {
  const plain = (await nacre("run", "-b", "sleep 1000")).stdout.trim();
  expect(await nacre("send", plain, "x")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no terminal"),
  });
  expect(await nacre("attach", plain)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nacre send"),
  });
  const id = await start("cat");
  expect(await nacre("send", id, "--key", "Entr")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Did you mean Enter?"),
  });
  expect(await nacre("run", "--terminal", "cat")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("-b"),
  });
  expect(await nacre("run", "-b", "--rows", "3", "cat")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--terminal"),
  });
  const size = await nacre("run", "-b", "--terminal", "--policy", "off", "--rows", "0", "--cols", "0", "cat");
  expect(size).toMatchObject({ code: 1, stderr: expect.stringContaining("0 rows") });
  expect(await nacre("run", "-b", "--terminal", "cat")).toMatchObject({ code: 3 });
});

test("nacre attach shows the screen, types, adapts the size, and detaches on a key", async () => {
  const id = await start(
    "stty -echo; printf 'first\\n'; while read -r line; do stty size; echo \"got $line\"; done",
  );
  await eventually(async () => expect((await nacre("output", id)).stdout).toContain("first"));
  const env = { NACRE_HOME: `${dir()}/state`, PATH: process.env["PATH"], HOME: dir() };
  const line = `stty rows 33 cols 77; exec ${process.execPath} ${PROGRAM} attach ${id}`;
  const terminal = atTerminal(line, { cwd: dir(), env });
  await terminal.shows("first");
  terminal.type("s3cret\r");
  await terminal.shows("got s3cret");
  await terminal.shows("33 77");
  terminal.type("\x1d");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain("still running");
  expect(await screen(id)).toMatchObject({ is_running: true });
});

test("nacre attach exits with the exit code of the shell", async () => {
  const id = await start("read -rp 'code? ' code; exit $code");
  const env = { NACRE_HOME: `${dir()}/state`, PATH: process.env["PATH"], HOME: dir() };
  const terminal = atTerminal(`${process.execPath} ${PROGRAM} attach ${id}`, { cwd: dir(), env });
  await terminal.shows("code?");
  terminal.type("6\r");
  expect(await terminal.exitCode).toBe(6);
});
