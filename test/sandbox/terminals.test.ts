// Commands typed into a sandboxed terminal stay in its sandbox, no matter which program runs them.
import { existsSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeSandboxed, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { drive } from "../fixtures/terminals.ts";
import { useTools } from "../fixtures/tools.ts";

const world = useSandboxWorld();
const { tools: make } = useTools();

describeSandboxed("a sandboxed terminal", () => {
  const sandboxed = () => {
    const options = { sandbox: "workspace-write", workspace: world.workspace } as const;
    const stateRoot = mkdtempSync(join(world.home, "state-"));
    return make({
      terminals: true,
      sandbox: "workspace-write",
      shells: { ...options, stateRoot, killGraceMs: 100 },
    });
  };
  const inWorkspace = { workingDir: world.workspace };
  const outward = (name: string) => `touch ${join(world.outside, name)} inside-${name}`;
  const expectConfined = (name: string) => {
    expect(existsSync(join(world.outside, name))).toBe(false);
    expect(existsSync(join(world.workspace, `inside-${name}`))).toBe(true);
  };

  test("needs no approval, and reports what the program waits for", async () => {
    const asked = await drive(sandboxed(), "read -rp 'name? ' x; read -rsp 'word? ' y", {}, inWorkspace);
    expect(asked.shell.confinement?.driver).toBe("bubblewrap");
    expect(await asked.look()).toMatchObject({ waiting: "line" });
    await asked.type("bob\n");
    expect(await asked.look()).toMatchObject({ waiting: "secret" });
    await asked.shell.resize({ rows: 11, cols: 44 });
    expect((await asked.look()).metadata["screen"]).toHaveLength(11);
  });

  test("confines commands typed at a shell prompt: type-ahead, split input, history", async () => {
    const bash = await drive(sandboxed(), "PS1='$ ' HISTFILE= bash --norc --noprofile", {}, inWorkspace);
    await bash.shell.write(`sleep 0.3\n${outward("ahead")}\n`);
    await bash.input();
    await bash.shell.write(outward("split").slice(0, 9));
    await bash.shell.write(`${outward("split").slice(9)}\n`);
    await bash.input();
    await bash.shell.write(`rm -f inside-split\n`);
    await bash.input();
    await bash.press("Up", "Up", "Enter");
    await bash.type("exit\n");
    await bash.shell.wait(20_000);
    expectConfined("ahead");
    expectConfined("split");
  });

  test("confines commands that vim and less run", async () => {
    const vim = await drive(sandboxed(), "vim -u NONE", {}, inWorkspace);
    await vim.type(`:!${outward("vim")}\n`);
    await vim.press("Enter");
    await vim.type(":q!\n");
    await vim.shell.wait(20_000);
    expectConfined("vim");
    const less = await drive(sandboxed(), "seq 100 | LESSSECURE= less", {}, inWorkspace);
    await less.type(`!${outward("less")}\n`);
    await less.press("Enter");
    await less.type("q");
    expectConfined("less");
  });

  test("confines nested shells, edited lines, aliases, lines after Ctrl-C, and history searches", async () => {
    const bash = await drive(sandboxed(), "PS1='$ ' HISTFILE= bash --norc --noprofile", {}, inWorkspace);
    const run = async (text: string) => {
      await bash.shell.write(text);
      await bash.input();
    };
    await run(`${outward("edited")}xx`);
    await bash.press("Backspace", "Backspace", "Enter");
    await run("echo kept");
    await bash.press("Ctrl-U");
    await run(`${outward("killed")}\n`);
    await run(`alias go='${outward("alias")}'\n`);
    await run("go\n");
    await bash.shell.write("sleep 1000\n");
    await bash.press("Ctrl-C");
    await run(`${outward("after")}\n`);
    await run("rm -f inside-after\n");
    await bash.press("Ctrl-R");
    await run("outside");
    await run("\x1b[A\x15");
    await run("PS1='> ' bash --norc --noprofile\n");
    await run(`${outward("inner")}\n`);
    await run(`python3 -c 'import os; os.system("${outward("python")}")'\n`);
    await run(`ssh -F none -o ProxyCommand='${outward("proxy")}' host.example\n`);
    for (const name of ["edited", "killed", "alias", "inner", "python", "proxy"]) expectConfined(name);
    expect(existsSync(join(world.outside, "after"))).toBe(false);
  });
});
