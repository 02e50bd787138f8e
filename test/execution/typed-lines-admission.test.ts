// At an idle shell prompt, the policy judges each complete line that BashInput types.
import { describe, expect, test } from "vitest";
import { linesOf } from "../../src/execution/typed-lines.ts";
import { TERMINAL_LINE_MAX_CHARS } from "../../src/support/limits.ts";
import { drive } from "../fixtures/terminals.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools: make } = useTools();
/**
 * The grace period is short: an interactive bash ignores TERM, so each kill waits until the period is over.
 */
const TERMINALS = { terminals: true, shells: { killGraceMs: 100 } };
const BASH = "PS1='$ ' bash --norc --noprofile";

/**
 * A shell at its prompt. A person approves the terminal, and approves other commands only if they contain
 * `approved`.
 */
async function driveAsked(command: string, approved?: string) {
  const asked: string[] = [];
  const approve = async (request: { readonly command: string; readonly rule: string }) => {
    if (request.rule === "terminal-input") return true;
    asked.push(request.command);
    return approved !== undefined && request.command.includes(approved);
  };
  return { shell: await drive(make({ ...TERMINALS }), command, {}, { approve }), asked };
}

describe("a line at an idle shell prompt", () => {
  test("is judged as a whole, even if it was typed in parts", async () => {
    const tools = make({ ...TERMINALS });
    const bash = await drive(tools, BASH);
    await bash.type("rm -rf ");
    await bash.type("/");
    const refused = await bash.input({ keys: ["Enter"] });
    expect(refused).toMatchObject({ success: false, code: "policy_denied" });
    expect((await bash.input({ text: "\n" })).code).toBe("policy_denied");
    await bash.press("Ctrl-C");
    expect(await bash.type("echo fine\n")).toContain("fine");
  });

  test("is shown to a person if it needs approval", async () => {
    const tools = make({ ...TERMINALS });
    const asked: string[] = [];
    const approve = async ({ command, rule }: { command: string; rule: string }) => {
      asked.push(command);
      return rule === "terminal-input";
    };
    const bash = await drive(tools, BASH, {}, { approve });
    const refused = await bash.input({ text: "git push --force origin main\n" });
    expect(refused).toMatchObject({ success: false, code: "approval_refused" });
    expect(asked.at(-1)).toContain("git push --force");
  });

  test("is not judged if it answers a program's question", async () => {
    const tools = make({ ...TERMINALS });
    const asked = await drive(tools, "read -rp 'What? ' x; echo got $x");
    await asked.type("rm -rf /\n");
    expect((await asked.look()).text).toContain("got rm -rf /");
  });

  test("is judged after its editing keys are applied", () => {
    expect(linesOf("", { text: "ab\ncd", keys: [] })).toEqual({ entered: ["ab\n"], rest: "cd" });
    expect(linesOf("ab", { text: "c", keys: ["Backspace", "Enter"] })).toEqual({
      entered: ["ab\n"],
      rest: "",
    });
    expect(linesOf("ab", { text: "\x15c\r\n", keys: [] })).toEqual({ entered: ["c\n"], rest: "" });
    expect(linesOf("ab", { text: "", keys: ["Ctrl-C", "Enter"] })).toEqual({ entered: ["", "\n"], rest: "" });
  });

  test("is judged together with the other lines of its command", async () => {
    const tools = make({ ...TERMINALS });
    const bash = await drive(tools, BASH);
    await bash.type("for i in 1 2; do\n");
    await bash.type("echo item $i\n");
    expect(await bash.type("done\n")).toContain("item 2");
    await bash.type("echo 'one\n");
    expect(await bash.type("two'\n")).toContain("one\ntwo");
    for (const [first, last] of [
      ["rm -rf \\\n", "/\n"],
      ["rm -rf '/\n", "'/../*\n"],
      ["if true; then\n", "rm -rf /\n"],
      // bash rejects the first line, so the next line runs alone.
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

  test.each([
    ["after a line that bash rejects", [")", "{ git push --force", "}"]],
    ["after two such lines", ["{ )", ")", "if true; then git push --force", "fi"]],
    ["after a here-document with a quote", ["cat <<E", "'", "E", "{ git push --force #'", "}"]],
    ["after a pattern that needs extglob", ["echo @(", "git push --force # )"]],
  ])("is judged together with the pending lines of its command, %s", async (_when, lines) => {
    const { shell, asked } = await driveAsked(BASH);
    for (const line of lines.slice(0, -1)) await shell.type(`${line}\n`);
    const refused = await shell.input({ text: `${lines.at(-1)}\n` });
    expect(refused).toMatchObject({ success: false, code: "approval_refused" });
    expect(asked).toEqual([expect.stringContaining("git push --force")]);
  });

  test("needs no second approval together with the next line, even if bash has rejected an earlier line", async () => {
    const { shell, asked } = await driveAsked(BASH, "git push --force");
    await shell.type(")\n");
    await shell.type("git push --force\n");
    expect(await shell.type("echo next\n")).toContain("\nnext");
    expect(asked).toEqual(["git push --force\n"]);
  });

  test("of a here-document is judged together with its command", async () => {
    const { shell, asked } = await driveAsked(BASH);
    await shell.type("cat <<E\n");
    await shell.type("it's (text\n");
    expect(await shell.type("E\n")).toContain("\nit's (text\n$");
    await shell.type("bash <<E\n");
    expect((await shell.input({ text: "git push --force\n" })).success).toBe(false);
    expect(asked).not.toEqual([]);
  });

  test("is refused if another shell than bash would read it and bash cannot parse it", async () => {
    const { shell } = await driveAsked("PS1='$ ' dash");
    expect(await shell.input({ text: "git push --force; [[\n" })).toMatchObject({ success: false });
    expect(await shell.type("echo fine\n")).toContain("\nfine");
    expect(shell.shell.getAllOutput()).not.toContain("[[");
  });

  test("is refused if its command is longer than the text that nacre stores", async () => {
    const { shell } = await driveAsked(BASH);
    const long = "x".repeat(TERMINAL_LINE_MAX_CHARS - 10);
    const tooLong = { code: "limit_reached", error: expect.stringContaining("Press Ctrl-C") };
    await shell.input({ text: long });
    expect(await shell.input({ text: "0123456789a" })).toMatchObject(tooLong);
    await shell.input({ keys: ["Ctrl-C"] });
    await shell.type("echo 'text\n");
    expect(await shell.input({ text: `${long}\n` })).toMatchObject(tooLong);
    await shell.input({ keys: ["Ctrl-C"] });
    expect(await shell.type("echo fine\n")).toContain("\nfine");
  });
});
