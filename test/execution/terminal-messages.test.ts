// Messages about a terminal list only the caller's own shells. They contain no control characters from commands, titles,
// file names or keys.
import { expect, test } from "vitest";
import { withFinished } from "../../src/execution/finished-report.ts";
import { summaryOf } from "../../src/shell/diagnosis.ts";
import { APPROVED, drive } from "../fixtures/terminals.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools: make } = useTools();
const TERMINALS = { terminals: true, policy: "off", shells: { killGraceMs: 100 } } as const;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
/** A title, a color, an 8-bit sequence, a rubout, and a change of the direction of text. */
const HOSTILE = "\x1b]0;title\x07\x1b[31mred\u009b31m\x7f\u202e";

test.each(["BashInput", "BashOutput", "KillShell"])(
  "%s refuses another scope's terminal, and lists the caller's own shells",
  async (tool) => {
    const tools = make(TERMINALS);
    const mine = { ...APPROVED, scope: "mine" };
    const theirs = await drive(tools, "read -rp 'theirs? ' x", {}, { ...APPROVED, scope: "theirs" });
    const own = await drive(tools, "read -rp 'own? ' x", {}, mine);
    const id = theirs.shell.id;
    const args = {
      ...(tool === "KillShell" ? { shell_id: id } : { bash_id: id }),
      ...(tool === "BashInput" && { text: "typed\n" }),
    };
    const refused = await tools.call(tool, args, mine);
    expect(refused).toMatchObject({ success: false, code: "shell_not_found" });
    expect(refused.error).toContain(`Shell not found: ${id}`);
    expect(refused.error).toContain(`There are:\n${own.shell.id} (running): read -rp 'own? ' x`);
    expect(refused.error).not.toContain("theirs?");
    expect(refused.metadata).not.toHaveProperty("screen");
    // The tool typed nothing, and the shell is still running.
    expect(theirs.shell.isRunning).toBe(true);
    expect((await theirs.look()).text).toBe("theirs?");
  },
);

test("the list of shells, the report of an ended shell and the result of a kill contain no control characters", async () => {
  const tools = make(TERMINALS);
  const command = `printf '${HOSTILE}up\\n${HOSTILE}'; read -r x # ${HOSTILE}`;
  const shown = await drive(tools, command);
  const unknown = await tools.call("BashInput", { bash_id: "shell_00000000", text: "x" }, APPROVED);
  expect(unknown.error).toContain(shown.shell.id);
  expect(unknown.error).not.toMatch(CONTROL);
  await shown.shell.write("x\n");
  await shown.shell.wait(20_000);
  const next = await withFinished(await tools.bash("true"), tools.manager, tools.context());
  expect(next.metadata).toMatchObject({ finished: [{ bash_id: shown.shell.id, exit_code: 0 }] });
  const reported = next.notes.find((note) => note.includes(shown.shell.id));
  expect(reported).toContain("red");
  expect(JSON.stringify(next.toWire())).not.toMatch(CONTROL);
  expect(next.toDisplay()).not.toMatch(CONTROL);

  const killed = await drive(tools, command);
  const report = await tools.call("KillShell", { shell_id: killed.shell.id }, APPROVED);
  expect(report.toDisplay()).not.toMatch(CONTROL);
});

test("a diagnosis contains no control characters from command lines, arguments or file names", async () => {
  const tools = make(TERMINALS);
  const shown = await drive(
    tools,
    `exec -a '${HOSTILE}' bash -c 'mkfifo "fifo${HOSTILE}"; exec 9<>"fifo${HOSTILE}"; bash -c "read -r x <&9" "${HOSTILE}ä漢"; true' # ${HOSTILE}`,
    {},
    APPROVED,
    0,
  );
  const diagnosis = await shown.shell.why();
  expect(diagnosis.processes.length).toBeGreaterThan(0);
  for (const { command, waits_for } of diagnosis.processes) {
    expect(command).not.toMatch(CONTROL);
    expect(waits_for ?? "").not.toMatch(CONTROL);
  }
  expect(summaryOf(diagnosis)).toMatch(/red.*ä漢/);
  expect(summaryOf(diagnosis)).not.toMatch(CONTROL);
});

test.each(["\x1b", "\x1b[31mred", "Ctrl-\x7f", "\u009b31m", "a\u202eb", "\x07", "Alt-\x1b"])(
  "the error about the key %j contains no control characters",
  async (key) => {
    const tools = make(TERMINALS);
    const asked = await drive(tools, "read -r x");
    const refused = await asked.input({ keys: ["Enter", key] });
    expect(refused).toMatchObject({ success: false, code: "invalid_input" });
    expect(refused.error).toContain("Unknown key");
    expect(refused.error).not.toMatch(CONTROL);
    // The key before the unknown key was not pressed.
    expect(asked.shell.isRunning).toBe(true);
  },
);
