// BashInput at an idle shell prompt: the policy judges each whole line.
import { describe, expect, test } from "vitest";
import { linesOf } from "../../src/execution/typed-lines.ts";
import { drive } from "../fixtures/terminals.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools: make } = useTools();
/** An interactive bash ignores TERM. */
const TERMINALS = { terminals: true, shells: { killGraceMs: 100 } };

describe("a line at an idle shell prompt", () => {
  test("is judged as a whole, also if it was typed in parts", async () => {
    const tools = make({ ...TERMINALS });
    const bash = await drive(tools, "PS1='$ ' bash --norc --noprofile");
    await bash.type("rm -rf ");
    await bash.type("/");
    const refused = await bash.input({ keys: ["Enter"] });
    expect(refused).toMatchObject({ success: false, code: "policy_denied" });
    expect((await bash.input({ text: "\n" })).code).toBe("policy_denied");
    await bash.press("Ctrl-C");
    expect(await bash.type("echo fine\n")).toContain("fine");
  });

  test("is put before a person if the policy asks", async () => {
    const tools = make({ ...TERMINALS });
    const asked: string[] = [];
    const approve = async ({ command, rule }: { command: string; rule: string }) => {
      asked.push(command);
      return rule === "terminal-input";
    };
    const bash = await drive(tools, "PS1='$ ' bash --norc --noprofile", {}, { approve });
    const refused = await bash.input({ text: "git push --force origin main\n" });
    expect(refused).toMatchObject({ success: false, code: "approval_refused" });
    expect(asked.at(-1)).toContain("git push --force");
  });

  test("an answer to a program's question is not judged", async () => {
    const tools = make({ ...TERMINALS });
    const asked = await drive(tools, "read -rp 'What? ' x; echo got $x");
    await asked.type("rm -rf /\n");
    expect((await asked.look()).text).toContain("got rm -rf /");
  });

  test("editing keys change what is judged", () => {
    expect(linesOf("", { text: "ab\ncd", keys: [] })).toEqual({ entered: ["ab\n"], rest: "cd" });
    expect(linesOf("ab", { text: "c", keys: ["Backspace", "Enter"] })).toEqual({
      entered: ["ab\n"],
      rest: "",
    });
    expect(linesOf("ab", { text: "\x15c\r\n", keys: [] })).toEqual({ entered: ["c\n"], rest: "" });
    expect(linesOf("ab", { text: "", keys: ["Ctrl-C", "Enter"] })).toEqual({ entered: ["", "\n"], rest: "" });
  });

  test("a command of several lines is judged as a whole", async () => {
    const tools = make({ ...TERMINALS });
    const bash = await drive(tools, "PS1='$ ' bash --norc --noprofile");
    await bash.type("for i in 1 2; do\n");
    await bash.type("echo item $i\n");
    expect(await bash.type("done\n")).toContain("item 2");
    await bash.type("echo 'one\n");
    expect(await bash.type("two'\n")).toContain("one\ntwo");
    for (const [first, last] of [
      ["rm -rf \\\n", "/\n"],
      ["rm -rf '/\n", "'/../*\n"],
      ["if true; then\n", "rm -rf /\n"],
      // bash rejects it, so that the next line runs alone.
      ["done\n", "rm -rf /\n"],
      ["echo a\nif true; then\n", "rm -rf /\n"],
    ] as const) {
      await bash.type(first);
      expect([first, (await bash.input({ text: last })).success]).toEqual([first, false]);
      await bash.press("Ctrl-C");
    }
    expect((await bash.input({ text: "rm -rf /\nif true; then\n" })).success).toBe(false);
    expect(await bash.type("echo fine\n")).toContain("\nfine");
  });
});
