// Completion: the candidates that nacre offers, and the results in real bash, zsh and fish when Tab is pressed.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";
import { atTerminal } from "./terminal.ts";

const { nacre, dir } = useCli();

const offered = async (...typed: string[]) =>
  (await nacre("complete", "--", ...typed)).stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t")[0]);

test("completion offers commands, options, choices, clients and shells", async () => {
  expect(await offered("k")).toEqual(["kill"]);
  expect(await offered("run", "--pol")).toEqual(["--policy", "--policy-file"]);
  expect(await offered("run", "--policy", "")).toEqual(["off", "trusting", "standard", "cautious"]);
  expect(await offered("run", "--policy=")).toEqual(
    ["off", "trusting", "standard", "cautious"].map((choice) => `--policy=${choice}`),
  );
  expect(await offered("run", "--policy=st")).toEqual(["--policy=standard"]);
  expect(await offered("run", "--json=")).toEqual([""]);
  expect(await offered("init", "c")).toEqual(["claude-code", "codex", "cursor"]);
  expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
  expect(await offered("help", "do")).toEqual(["doctor"]);
  expect(await offered("audit", "")).toContain("verify");
  expect(await offered("audit", "verify", "--j")).toEqual(["--json"]);
  expect(await offered("run", "--", "l")).toEqual([""]);
  expect(await offered("nothing", "")).toEqual([""]);
  const id = await endedShell();
  expect(await offered("output", "")).toEqual([id]);
  expect(await offered("output", id.slice("shell_".length, -2))).toEqual([id]);
  expect(await offered("kill", "")).toEqual([""]);
});

describe("in a shell", () => {
  test("bash completes a typed word", async () => {
    const { stdout: script } = await nacre("completion", "bash");
    const id = await endedShell();
    const press = (...words: string[]) =>
      `COMP_WORDS=(nacre ${words.join(" ")}); COMP_CWORD=${words.length}; _nacre; echo "\${COMPREPLY[*]}"`;
    const steps = [press("outp"), press("run", "--pol"), press("output", id.slice("shell_".length, -2))];
    const { stdout, stderr } = run("bash", ["--norc"], [script, ...steps, "complete -p nacre"].join("\n"));
    expect({ stdout, stderr }).toEqual({
      stdout: `output\n--policy --policy-file\n${id}\ncomplete -o default -F _nacre nacre\n`,
      stderr: "",
    });
  });

  test("bash completes --option=value, even though bash splits this text into three words", async () => {
    const { stdout: script } = await nacre("completion", "bash");
    writeFileSync(join(dir(), "bashrc"), `${script}PS1='ready> '; bind 'set bell-style none'\n`);
    const env = { ...environment(), TERM: "dumb", INPUTRC: "/dev/null" };
    const terminal = atTerminal("stty cols 120; exec bash --rcfile bashrc -i", { cwd: dir(), env });
    await terminal.shows("ready> ");
    terminal.type("nacre run --policy=st\t");
    await terminal.shows("nacre run --policy=standard");
    terminal.type(`${CLEAR_LINE}nacre run --env-mode=\t\t`);
    await terminal.shows(/^all +core +none +safe/m);
    terminal.type(`${CLEAR_LINE}nacre run --cwd=/etc/passw\t`);
    await terminal.shows("--cwd=/etc/passwd");
    terminal.type(`${CLEAR_LINE}exit\n`);
    expect(await terminal.exitCode).toBe(0);
  });

  test("zsh completes a typed word and shows its description", async ({ skip }) => {
    skip(isMissing("zsh"), "zsh is not installed: apt-get install zsh");
    mkdirSync(join(dir(), "functions"));
    writeFileSync(join(dir(), "functions/_nacre"), (await nacre("completion", "zsh")).stdout);
    writeFileSync(
      join(dir(), ".zshrc"),
      `fpath=(${join(dir(), "functions")} $fpath); autoload -U compinit; compinit -u -D; PS1='ready> '\n`,
    );
    const id = await endedShell();
    const env = { ...environment(), ZDOTDIR: dir(), TERM: "dumb" };
    const terminal = atTerminal("stty cols 120; exec zsh -i", { cwd: dir(), env });
    await terminal.shows("ready> ");
    terminal.type("nacre outp\t");
    await terminal.shows("nacre output ");
    terminal.type(`${id.slice("shell_".length, -2)}\t`);
    await terminal.shows(id);
    terminal.type(`${CLEAR_LINE}nacre run --pol\t`);
    // zsh first inserts the common prefix, then shows the list.
    await terminal.shows("nacre run --policy");
    terminal.type("\t");
    await terminal.shows(/--policy +-- how strict the policy is/);
    terminal.type(`${CLEAR_LINE}nacre run --env-mode=co\t`);
    await terminal.shows("nacre run --env-mode=core");
    terminal.type(`${CLEAR_LINE}nacre run ls /etc/passw\t`);
    await terminal.shows("/etc/passwd");
    terminal.type(`${CLEAR_LINE}exit\n`);
    expect(await terminal.exitCode).toBe(0);
  });

  test("fish completes a typed word and shows its description", async ({ skip }) => {
    skip(isMissing("fish"), "fish is not installed: apt-get install fish");
    const { stdout: script } = await nacre("completion", "fish");
    const id = await endedShell();
    const press = (line: string) => run("fish", ["--no-config"], `${script}\ncomplete -C '${line}'`).stdout;
    expect(press("nacre outp")).toMatch(/^output\t.+\n$/);
    expect(press("nacre run --policy ").match(/^\S+/gm)?.sort()).toEqual([
      "cautious",
      "off",
      "standard",
      "trusting",
    ]);
    expect(press("nacre run --policy=st")).toMatch(/^--policy=standard\t.+\n$/);
    expect(press(`nacre output ${id.slice("shell_".length, -2)}`)).toBe(`${id}\tcompleted: true\n`);
    expect(press("nacre run ls /etc/passw")).toMatch(/^\/etc\/passwd$/m);
  });

  test("an unknown shell is refused with a list of the known shells", async () => {
    const { code, stderr } = await nacre("completion", "tcsh");
    expect(code).toBe(2);
    expect(stderr).toContain("bash, zsh, fish");
  });
});

const CLEAR_LINE = "\x15";

async function endedShell(): Promise<string> {
  await using host = new ShellManager({ stateRoot: join(dir(), "state") });
  const shell = await host.createShell({ command: "true", workingDir: dir() });
  await shell.wait(20_000);
  return shell.id;
}

function run(shell: string, words: readonly string[], script: string) {
  const { stdout, stderr } = spawnSync(shell, [...words, "-c", script], {
    cwd: dir(),
    env: environment(),
    encoding: "utf8",
    timeout: 25_000,
  });
  return { stdout, stderr };
}

/** An environment with a PATH in which `nacre` is the built program. */
function environment(): NodeJS.ProcessEnv {
  const bin = join(dir(), "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "nacre"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, "nacre"), 0o755);
  return { PATH: `${bin}:${process.env["PATH"]}`, HOME: dir(), NACRE_HOME: join(dir(), "state") };
}

function isMissing(shell: string): boolean {
  return spawnSync(shell, ["--version"]).error !== undefined;
}
