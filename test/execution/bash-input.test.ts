// BashInput types into a terminal and returns its screen, or refuses the input.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TERMINAL_INPUT_MAX_BYTES } from "../../src/support/limits.ts";
import { APPROVED, drive, expectPlain, screenOf } from "../fixtures/terminals.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools: make } = useTools();
/**
 * The error code of a command that needs approval. In these tests no person can be asked, unless a test
 * passes an approve callback.
 */
const PENDING = expect.stringMatching(/^approval_/);
/**
 * The grace period is short: an interactive bash ignores SIGTERM, so every kill waits until the period is
 * over.
 */
const TERMINALS = { terminals: true, shells: { killGraceMs: 100 } };

test("BashInput answers questions, shows the screen, and reports the exit code", async () => {
  const tools = make({ ...TERMINALS });
  const asked = await drive(tools, `read -p 'name? ' name; echo "hello $name"; read -n1 -p 'key? '; exit 7`);
  expect(await asked.look()).toMatchObject({ text: "name?", waiting: "line" });
  const result = await asked.input({ text: "bob", keys: ["Enter"] });
  expect(result.metadata).toMatchObject({
    waiting: "key",
    cursor: { row: 3, col: 6 },
    changed_rows: [1, 2, 3],
    is_running: true,
  });
  expect(screenOf(result)).toBe("name? bob\nhello bob\nkey?");
  expect(result.output).toContain("*hello bob");
  expectPlain(result);
  await asked.type("x");
  await asked.shell.wait(20_000);
  const { metadata } = await asked.look();
  expect(metadata).toMatchObject({ status: "failed", exit_code: 7, waiting: "no", is_running: false });
});

test("after the shell has ended, BashInput returns the last screen and refuses to type", async () => {
  const tools = make({ ...TERMINALS });
  const ended = await drive(tools, "printf 'one\\ntwo\\n'");
  await ended.shell.wait(20_000);
  expect((await ended.look()).text).toBe("one\ntwo");
  const result = await ended.input({ text: "x" });
  expect(result).toMatchObject({ success: false, code: "unavailable" });
  expect(result.error).toContain("exited with code 0");
});

test("BashInput refuses text at a prompt for a secret, and does not store the secret that a person types", async () => {
  const tools = make({ ...TERMINALS });
  const asked = await drive(
    tools,
    `read -rsp 'Password: ' word; echo; echo length $(printf %s "$word" | wc -c)`,
  );
  expect(await asked.look()).toMatchObject({ waiting: "secret" });
  const refused = await asked.input({ text: "hunter2\n" });
  expect(refused).toMatchObject({ success: false, code: "secret_prompt" });
  expect(refused.error).toContain("nacre attach");
  await expect(asked.shell.write("hunter2\n")).rejects.toMatchObject({ code: "secret_prompt" });
  await asked.shell.write("hunter2\n", { secret: true });
  await asked.shell.wait(20_000);
  expect((await asked.look()).text).toContain("length 7");
  expect(asked.shell.getAllOutput()).not.toContain("hunter2");
});

test.each([
  ["before the program reads its input", "stty -echo; echo up; sleep 1000"],
  ["in a terminal inside the terminal", "script -qec 'stty -echo; echo up; read -r x' /dev/null"],
])("BashInput refuses a secret %s", async (_when, command) => {
  const tools = make(TERMINALS);
  const asked = await drive(tools, command, {}, APPROVED, 0);
  await asked.shell.waitFor("up", 20_000);
  expect(await asked.input({ text: "hunter2\n" })).toMatchObject({ code: "secret_prompt" });
});

test("BashInput types a multi-line text up to a prompt for a secret, and refuses the rest", async () => {
  const tools = make(TERMINALS);
  const command = `for i in 1 2; do read -rp 'user? ' user; read -rsp 'word? ' word; echo "got [$user] [$word]"; done`;
  const asked = await drive(tools, command);
  const refused = await asked.input({ text: "bob\nhunter2\n" });
  expect(refused).toMatchObject({ success: false, code: "secret_prompt" });
  expect(refused.error).toContain("1 line of the text was typed");
  // The secret is also refused without its newline, and when an interactive bash reads it.
  expect(await asked.input({ text: "hunter2" })).toMatchObject({ code: "secret_prompt" });
  expect(await asked.press("Enter")).toContain("got [bob] []");
  expect(asked.shell.getAllOutput()).not.toContain("hunter2");
  const bashWithoutPaste =
    "echo set enable-bracketed-paste off >rc; INPUTRC=rc PS1='$ ' bash --norc --noprofile";
  const bash = await drive(tools, bashWithoutPaste);
  const prompt = await bash.input({ text: "read -rs word\nhunter2\n" });
  expect(prompt).toMatchObject({ success: false, code: "secret_prompt" });
  expect(bash.shell.getAllOutput()).not.toContain("hunter2");
});

test("BashInput types many lines one after the other, and the program receives all of them", async () => {
  const tools = make(TERMINALS);
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  const cat = await drive(tools, "stty -echo; stty echo; cat >got; echo end");
  await cat.type(`${lines.join("\n")}\n`, "Ctrl-D");
  await cat.shell.wait(20_000);
  expect(readFileSync(join(tools.dir, "got"), "utf8")).toBe(`${lines.join("\n")}\n`);
});

test("BashInput hides a secret that continues in the next row", async () => {
  const tools = make(TERMINALS);
  const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  const shown = await drive(tools, `printf '%70s%s\\n' token: ${token.slice(0, 20)}${token.slice(20)}`);
  const { text, metadata } = await shown.look();
  expect(text).toContain("token:");
  expect(text.replaceAll("\n", "")).not.toContain(token);
  expect(JSON.stringify(metadata)).not.toContain("c3D4e5F6a1B2");
});

test("BashInput can press keys at a prompt for a secret", async () => {
  const tools = make({ ...TERMINALS });
  const asked = await drive(tools, "read -rsp 'Password: ' word; echo never");
  await asked.press("Ctrl-C");
  await asked.shell.wait(20_000);
  expect((await asked.look()).text).not.toContain("never");
});

test("an end of input and an interrupt reach the program, and the size of the terminal can be set", async () => {
  const tools = make({ ...TERMINALS });
  const size = await drive(tools, "while stty size; do read -r; done", { rows: 30, cols: 100 });
  expect((await size.look()).text).toBe("30 100");
  await size.shell.resize({ rows: 10, cols: 40 });
  expect(await size.press("Enter")).toBe("30 100\n\n10 40");
  expect((await size.look()).metadata["screen"]).toHaveLength(10);
  await size.press("Ctrl-C");
  await size.shell.wait(20_000);
  const cat = await drive(tools, "cat; echo end");
  await cat.type("one\n");
  await cat.press("Ctrl-D");
  await cat.shell.wait(20_000);
  expect((await cat.look()).text).toBe("one\none\nend");
});

test("a terminal inherits the session's directory, exports and functions, and lets git prompt", async () => {
  const tools = make({ ...TERMINALS });
  await tools.bash("export COLOR=red; hello() { echo hello $COLOR; }; mkdir sub; cd sub");
  const shell = await drive(
    tools,
    "hello; pwd; echo $TERM; env | grep -c -E '^GIT_(EDITOR|TERMINAL_PROMPT)='",
  );
  expect((await shell.look()).text).toMatch(/^hello red\n.*\/sub\nxterm-256color\n0$/);
});

describe("invalid input", () => {
  test("is refused: a shell without a terminal, an unknown id, an unknown key, a text that is too long", async () => {
    const tools = make({ ...TERMINALS });
    const plain = await tools.start("sleep 60");
    const call = async (args: object) => await tools.call("BashInput", args, APPROVED);
    expect(await call({ bash_id: plain.id, text: "x" })).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining('"terminal": true'),
    });
    expect(await call({ bash_id: "shell_00000000", text: "x" })).toMatchObject({ code: "shell_not_found" });
    const asked = await drive(tools, "read -r x");
    expect(await asked.input({ keys: ["Entr"] })).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining("Did you mean Enter?"),
    });
    expect((await asked.input({ keys: ["q"] })).error).toContain("give it as text");
    expect(await asked.input({ text: "x".repeat(TERMINAL_INPUT_MAX_BYTES + 1) })).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining(String(TERMINAL_INPUT_MAX_BYTES)),
    });
    // No part of the text was typed.
    expect((await asked.look()).text).toBe("");
  });

  test.each([
    [{ rows: 0, cols: 0 }, "cannot have 0 rows and 0 columns"],
    [{ rows: 24, cols: 100_000 }, "100000 columns"],
    [{ rows: -24, cols: 80 }, "cannot have -24 rows"],
    [{ rows: 1e9, cols: 80 }, "1000000000 rows"],
    [{ rows: 1.5 }, "rows must be an integer"],
    [{ run_in_background: false }, "run_in_background"],
    [{ timeout: 5_000 }, "Leave out timeout"],
    [{ preview: true }, "Leave out terminal or preview"],
    [{ preview: true, run_in_background: false }, "Leave out terminal or preview"],
    [{ terminal: false, rows: 24 }, "terminal to true"],
  ])("%j is refused before anything runs", async (args, words) => {
    const tools = make({ ...TERMINALS, withPreview: true });
    const result = await tools.call(
      "Bash",
      { command: "touch ran", run_in_background: true, terminal: true, ...args },
      APPROVED,
    );
    expect(result).toMatchObject({ success: false, code: "invalid_input" });
    expect(result.error).toContain(words);
    expect(existsSync(join(tools.dir, "ran"))).toBe(false);
  });

  test("without the terminal tools, Bash refuses the parameter terminal", async () => {
    const tools = make();
    const result = await tools.call(
      "Bash",
      { command: "true", run_in_background: true, terminal: true },
      APPROVED,
    );
    expect(result).toMatchObject({ success: false, code: "invalid_input" });
    expect(tools.registry.get("BashInput")).toBeUndefined();
  });
});

describe("approval", () => {
  test("is required for a terminal, and the request names the reason", async () => {
    const tools = make({ ...TERMINALS });
    const asked: unknown[] = [];
    const args = { command: "cat", run_in_background: true, terminal: true };
    const refused = await tools.call("Bash", args, {
      approve: async (request) => {
        asked.push(request);
        return false;
      },
    });
    expect(refused).toMatchObject({ success: false, code: "approval_refused" });
    expect(asked).toMatchObject([{ rule: "terminal-input", reason: expect.stringContaining("terminal") }]);
    expect(await tools.call("Bash", args)).toMatchObject({ success: false, code: PENDING });
    expect(tools.manager.listShells()).toEqual([]);
  });

  test("has both reasons in its request if the command alone needs approval, too", async () => {
    const tools = make({ ...TERMINALS });
    const reasons: string[] = [];
    await tools.call(
      "Bash",
      { command: "sudo -s", run_in_background: true, terminal: true },
      {
        approve: async ({ reason }) => {
          reasons.push(reason);
          return false;
        },
      },
    );
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toMatch(/^(?!The command gets a terminal).+The command gets a terminal/);
  });

  test("is required even if an allow rule matches the program, but not in the profile off", async () => {
    const rules = [{ id: "cats", verdict: "allow", program: "cat", matches: "cat" }] as const;
    const args = { command: "cat", run_in_background: true, terminal: true };
    expect(await make({ ...TERMINALS, rules }).call("Bash", args)).toMatchObject({ code: PENDING });
    expect(await make({ ...TERMINALS, policy: "off" }).call("Bash", args)).toMatchObject({
      success: true,
    });
  });
});
