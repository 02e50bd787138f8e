import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { buildEnvironment } from "../../src/environment/environment.ts";
import { UserEnvironment } from "../../src/shell/user-environment.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory, manager, run } = useShells();
const SHELLS = ["/bin/bash", "/usr/bin/zsh"].filter((path) => existsSync(path));
const oldHome = process.env["HOME"];
const oldShell = process.env["SHELL"];

afterEach(() => {
  process.env["HOME"] = oldHome;
  process.env["SHELL"] = oldShell;
});

/** A home directory with this text in the rc file of the shell. */
function home(shellPath: string, rc: string): string {
  const dir = directory();
  mkdirSync(join(dir, "bin"), { recursive: true });
  const isZsh = shellPath.endsWith("zsh");
  writeFileSync(join(dir, isZsh ? ".zshrc" : ".bashrc"), rc);
  if (!isZsh) writeFileSync(join(dir, ".bash_profile"), ". ~/.bashrc\n");
  return dir;
}

function profileOf(shellPath: string, dir: string, timeoutMs = 20_000): UserEnvironment {
  const inherited = { HOME: dir, PATH: "/usr/bin:/bin", USER: "tester" };
  const base = buildEnvironment({ inherited });
  return new UserEnvironment({
    root: new StateRoot(join(dir, "state")),
    base,
    rules: {},
    workingDir: dir,
    shellPath,
    timeoutMs,
  });
}

/** What the tools put into an rc file, reduced to what counts here. */
const SNIPPETS: readonly (readonly [string, string, string])[] = [
  [
    "nvm",
    'export NVM_DIR="$HOME/.nvm"; nvm() { :; }; export PATH="$NVM_DIR/versions/node/v20/bin:$PATH"',
    ".nvm/versions/node/v20/bin",
  ],
  ["fnm", `eval "$(printf 'export PATH=%s/fnm/bin:%s\\nexport FNM_DIR=x\\n' "$HOME" "$PATH")"`, "/fnm/bin"],
  [
    "conda",
    `__conda_setup="$(printf 'export CONDA_PREFIX=%s/conda\\nPATH=%s/conda/bin:$PATH\\n' "$HOME" "$HOME")"; eval "$__conda_setup"; export PATH`,
    "/conda/bin",
  ],
  [
    "pyenv",
    'export PYENV_ROOT="$HOME/.pyenv"; command -v pyenv >/dev/null || export PATH="$PYENV_ROOT/shims:$PATH"',
    ".pyenv/shims",
  ],
];

describe.each(SHELLS)("the profile of %s", (shellPath) => {
  test.each(SNIPPETS)("of a user of %s sets the path", async (_name, rc, part) => {
    const profile = profileOf(shellPath, home(shellPath, rc));
    expect((await profile.variables())["PATH"]).toContain(part);
    expect(profile.takeNote()).toBeUndefined();
  });

  test("of a user of direnv sets what its prompt hook exports", async () => {
    const hook = "_hook() { export FROM_DIRENV=yes; }";
    const rc = shellPath.endsWith("zsh")
      ? `${hook}; typeset -ag precmd_functions; precmd_functions=(_hook)`
      : `${hook}; PROMPT_COMMAND="_hook\${PROMPT_COMMAND:+;$PROMPT_COMMAND}"`;
    expect(await profileOf(shellPath, home(shellPath, rc)).variables()).toMatchObject({ FROM_DIRENV: "yes" });
  });

  test("loses its secrets, which are redacted in output", async () => {
    const rc = "export MY_API_KEY=abcdefgh12345678; export EDITOR_FONT=mono; export LD_PRELOAD=";
    const profile = profileOf(shellPath, home(shellPath, rc));
    expect(await profile.variables()).not.toHaveProperty("MY_API_KEY");
    expect(await profile.variables()).toMatchObject({ EDITOR_FONT: "mono" });
    expect(profile.environment.droppedValues).toContainEqual({
      name: "MY_API_KEY",
      value: "abcdefgh12345678",
    });
  });

  test("that prints, fails or asks the terminal only adds a note", async () => {
    const noisy = profileOf(
      shellPath,
      home(shellPath, "echo hello; echo oops >&2; stty sane </dev/tty; export OK=1"),
    );
    expect(await noisy.variables()).toMatchObject({ OK: "1" });
    const failing = profileOf(shellPath, home(shellPath, "echo broken >&2; exit 3"));
    expect(await failing.variables()).toEqual({});
    expect(failing.takeNote()).toMatch(/has a problem: it ended with exit code 3.*Commands run without it/);
    expect(failing.takeNote()).toBeUndefined();
  });

  test("that hangs is ended and only adds a note", async () => {
    const dir = home(shellPath, "echo $$ > ~/pid; sleep 98765");
    const profile = profileOf(shellPath, dir, 1_500);
    expect(await profile.variables()).toEqual({});
    expect(profile.takeNote()).toContain("it took longer than 1500ms");
    const pid = Number(readFileSync(join(dir, "pid"), "utf8"));
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  test("is read again when its file changes", async () => {
    const dir = home(shellPath, "export LEVEL=1");
    const profile = profileOf(shellPath, dir);
    expect(await profile.variables()).toMatchObject({ LEVEL: "1" });
    const file = join(dir, shellPath.endsWith("zsh") ? ".zshrc" : ".bashrc");
    writeFileSync(file, "export LEVEL=22");
    utimesSync(file, 1, 1);
    expect(await profile.variables()).toMatchObject({ LEVEL: "22" });
  });
});

test("commands of a manager get the variables of the profile", async () => {
  const dir = home("/bin/bash", "export FROM_RC='two words'; export PATH=$HOME/bin:$PATH");
  process.env["HOME"] = dir;
  process.env["SHELL"] = "/bin/bash";
  const host = manager({ shellProfile: "user", workspace: dir });
  const shell = await run(host, 'echo "$FROM_RC"; echo "$PATH"');
  expect(shell.getAllOutput()).toContain(`two words\n${dir}/bin:`);
  const session = host.session("s", { workingDir: dir });
  const result = await session.run('test "$FROM_RC" = "two words"');
  expect(result.exitCode).toBe(0);
});
