// nacre attach at a real terminal: two clients at once, the window size, a typed secret, and the state of the user's
// terminal after each kind of exit.
import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";
import { atTerminal } from "./terminal.ts";

const { nacre, dir } = useCli();
const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

async function start(command: string): Promise<string> {
  return (await nacre("run", "-b", "--terminal", "--policy", "off", command)).stdout.trim();
}

/** Attaches, then prints the settings of the user's terminal. */
function startAttach(id: string) {
  const env = { NACRE_HOME: `${dir()}/state`, PATH: process.env["PATH"], HOME: dir() };
  const inner = `echo "pid $$."; exec ${process.execPath} ${PROGRAM} attach ${id}`;
  const line = `bash -c '${inner.replaceAll("'", `'\\''`)}'; echo "code $?."; stty -a | grep -oE -- "-?(icanon|echo)\\b"; echo over`;
  const terminal = atTerminal(line, { cwd: dir(), env });
  const pid = async () => {
    await terminal.shows(/pid \d+\./);
    return Number(/pid (\d+)\./.exec(terminal.screen())?.[1]);
  };
  return { ...terminal, pid };
}

/** Expects that the program's terminal modes are reset, and that line mode and echo are on again. */
async function expectRestored(
  { shows, screen }: ReturnType<typeof startAttach>,
  code: string,
): Promise<void> {
  await shows("over\r\n");
  expect(screen()).toMatch(new RegExp(`code ${code}\\.`));
  const [, after = ""] = screen().split(/code \d+\.\r\n/);
  expect(after.split("\r\n").slice(0, 2).sort()).toEqual(["echo", "icanon"]);
  for (const reset of ["\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l", "\x1b[?1004l"])
    expect(screen()).toContain(reset);
}

const FULL_SCREEN = "printf '\\033[?1049h\\033[?25l\\033[?2004h\\033[?1004hhere'; stty raw -echo; sleep 1000";

test.each([
  ["SIGTERM", "143"],
  ["SIGHUP", "129"],
  ["SIGINT", "130"],
] as const)(
  "%s restores the user's terminal",
  async (signal, code) => {
    const terminal = startAttach(await start(FULL_SCREEN));
    const pid = await terminal.pid();
    await terminal.shows("here");
    process.kill(pid, signal);
    await expectRestored(terminal, code);
  },
  60_000,
);

test("when the shell is killed, the user's terminal is restored and attach fails", async () => {
  const id = await start(FULL_SCREEN);
  const terminal = startAttach(id);
  await terminal.shows("here");
  expect((await nacre("kill", id)).code).toBe(0);
  await expectRestored(terminal, "[1-9]\\d*");
}, 60_000);

test("two attached terminals both show the output, and one can detach while the other stays attached", async () => {
  const id = await start(`printf 'first\\n'; while read -r line; do echo "got $line"; stty size; done`);
  const first = startAttach(id);
  const second = startAttach(id);
  await first.shows("first");
  await second.shows("first");
  first.type("from one\r");
  await first.shows("got from one");
  await second.shows("got from one");
  first.type("\x1d");
  await expectRestored(first, "0");
  second.type("from other\r");
  await second.shows("got from other");
  expect(first.screen()).not.toContain("got from other");
  second.type("\x1d");
  await expectRestored(second, "0");
}, 60_000);

test("a new size of the user's window reaches the program", async () => {
  const id = await start(`trap 'stty size' WINCH; echo up; while :; do read -rt 1 line; done`);
  const terminal = startAttach(id);
  const pid = await terminal.pid();
  await terminal.shows("up");
  execFileSync("stty", ["-F", `/proc/${pid}/fd/0`, "rows", "31", "cols", "93"]);
  await terminal.shows("31 93");
  terminal.type("\x1d");
  await expectRestored(terminal, "0");
}, 60_000);

test("text that a person types at a prompt for a secret is not stored", async () => {
  const secret = "correct-horse-battery";
  const id = await start(`read -rsp 'Password: ' word; echo; echo "length \${#word}"; read -r x`);
  const terminal = startAttach(id);
  await terminal.shows("Password:");
  await eventually(async () =>
    expect(JSON.parse((await nacre("send", id, "--json")).stdout)).toMatchObject({ waiting: "secret" }),
  );
  terminal.type(secret.slice(0, 7));
  terminal.type(`${secret.slice(7)}\r`);
  await terminal.shows(`length ${secret.length}`);
  terminal.type("\x1d");
  await expectRestored(terminal, "0");
  for (const part of [secret, secret.slice(0, 7), secret.slice(7)])
    expect(spawnSync("grep", ["-rlF", part, `${dir()}/state`], { encoding: "utf8" }).stdout).toBe("");
  expect(terminal.screen()).not.toContain(secret.slice(7));
}, 60_000);

test("attach without a terminal at stdin is refused, and the error names nacre send", async () => {
  const id = await start("cat");
  const refused = await nacre("attach", id);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("use nacre send") });
});
