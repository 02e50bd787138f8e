import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
  // Delete the variable: an assignment of undefined would set the text "undefined" for later test files of
  // this worker.
  if (oldShell === undefined) delete process.env["SHELL"];
  else process.env["SHELL"] = oldShell;
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

/** The lines that each tool's manual tells users to add to an rc file. Small scripts replace the tools. */
const SNIPPETS: readonly {
  readonly tool: string;
  readonly rc: string;
  /** Programs in ~/bin and files in the home directory. The values are sh scripts. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly expected: (home: string) => Readonly<Record<string, unknown>>;
}[] = [
  {
    tool: "nvm",
    rc: `export NVM_DIR="$HOME/.nvm"
[ -s "$NVM_DIR/nvm.sh" ] && \\. "$NVM_DIR/nvm.sh"  # This loads nvm
[ -s "$NVM_DIR/bash_completion" ] && \\. "$NVM_DIR/bash_completion"`,
    files: {
      ".nvm/nvm.sh": `nvm() { case $1 in use) export PATH="$NVM_DIR/versions/node/v$2/bin:$PATH" NVM_BIN="$NVM_DIR/versions/node/v$2/bin";; esac; }
nvm use 20.1.0 >/dev/null`,
    },
    expected: (home) => ({
      NVM_BIN: `${home}/.nvm/versions/node/v20.1.0/bin`,
      PATH: expect.stringContaining(`${home}/.nvm/versions/node/v20.1.0/bin:`),
    }),
  },
  {
    tool: "fnm",
    rc: `eval "$(fnm env --use-on-cd)"`,
    programs: {
      fnm: `cat <<END
export PATH=$HOME/.fnm/multishells/$$/bin:"\\$PATH"
END
cat <<'END'
export FNM_MULTISHELL_PATH="$HOME/.fnm/multishells/x"
export FNM_LOGLEVEL="info"
__fnmcd() { \\cd "$@" || return $?; }
alias cd=__fnmcd
END`,
    },
    expected: (home) => ({
      FNM_LOGLEVEL: "info",
      PATH: expect.stringMatching(`${home}/.fnm/multishells/\\d+/bin:`),
    }),
  },
  {
    tool: "conda",
    rc: `# >>> conda initialize >>>
__conda_setup="$("$HOME/bin/conda" 'shell.bash' 'hook' 2> /dev/null)"
if [ $? -eq 0 ]; then
    eval "$__conda_setup"
else
    export PATH="$HOME/wrong:$PATH"
fi
unset __conda_setup
# <<< conda initialize <<<`,
    programs: {
      conda: `cat <<'END'
export CONDA_EXE="$HOME/conda/bin/conda"
__conda_activate() { export CONDA_PREFIX="$HOME/conda" CONDA_DEFAULT_ENV=base CONDA_SHLVL=1 PATH="$HOME/conda/bin:$PATH" PS1="(base) $PS1"; }
conda() { case "$1" in activate) __conda_activate;; esac; }
conda activate base
END`,
    },
    expected: (home) => ({
      CONDA_PREFIX: `${home}/conda`,
      CONDA_DEFAULT_ENV: "base",
      PATH: expect.stringContaining(`${home}/conda/bin:`),
    }),
  },
  {
    tool: "pyenv",
    rc: `export PYENV_ROOT="$HOME/.pyenv"
[[ -d $PYENV_ROOT/bin ]] && export PATH="$PYENV_ROOT/bin:$PATH"
eval "$(pyenv init -)"`,
    programs: {
      pyenv: `[ "$1" = init ] && cat <<'END'
PATH="$(bash --norc -ec 'IFS=:; paths=($PATH); for i in "\${!paths[@]}"; do if [[ \${paths[i]} == "$HOME/.pyenv/shims" ]]; then unset "paths[i]"; fi; done; echo "\${paths[*]}"')"
export PATH="$HOME/.pyenv/shims:\${PATH}"
export PYENV_SHELL=bash
command pyenv rehash 2>/dev/null
pyenv() { command pyenv "$@"; }
END`,
    },
    expected: (home) => ({ PYENV_SHELL: "bash", PATH: expect.stringContaining(`${home}/.pyenv/shims:`) }),
  },
  {
    tool: "direnv",
    rc: `eval "$(direnv hook "$SHELL_NAME")"`,
    programs: {
      direnv: `case $1 in
hook)
  echo '_direnv_hook() { local previous_exit_status=$?; trap -- "" SIGINT; eval "$(direnv export x)"; trap - SIGINT; return $previous_exit_status; }'
  if [ "$2" = zsh ]; then
    echo 'typeset -ag precmd_functions; if (( ! \${precmd_functions[(I)_direnv_hook]} )); then precmd_functions=(_direnv_hook $precmd_functions); fi'
    echo 'typeset -ag chpwd_functions; if (( ! \${chpwd_functions[(I)_direnv_hook]} )); then chpwd_functions=(_direnv_hook $chpwd_functions); fi'
  else
    echo 'if [[ ";\${PROMPT_COMMAND[*]:-};" != *";_direnv_hook;"* ]]; then PROMPT_COMMAND="_direnv_hook\${PROMPT_COMMAND:+;$PROMPT_COMMAND}"; fi'
  fi;;
export) . ./.envrc; echo "export FROM_DIRENV='$FROM_DIRENV' DIRENV_DIR='-$PWD'";;
esac`,
    },
    files: { ".envrc": "FROM_DIRENV='two words'" },
    expected: (home) => ({ FROM_DIRENV: "two words", DIRENV_DIR: `-${home}` }),
  },
];

describe.each(SHELLS)("the profile of %s", (shellPath) => {
  test.each(SNIPPETS)("with the setup lines of $tool sets the variables of that tool", async (snippet) => {
    const { rc, programs = {}, files = {}, expected } = snippet;
    const before = `export PATH="$HOME/bin:$PATH" SHELL_NAME=${basename(shellPath)}\n`;
    const dir = home(shellPath, before + rc);
    for (const [name, text] of Object.entries(programs))
      writeFileSync(join(dir, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), `${text}\n`);
    }
    const profile = profileOf(shellPath, dir);
    expect(await profile.variables()).toMatchObject(expected(dir));
    expect(profile.takeNote()).toBeUndefined();
  });

  test("does not pass on its secrets, which are redacted in output", async () => {
    const rc = "export MY_API_KEY=abcdefgh12345678; export EDITOR_FONT=mono; export LD_PRELOAD=";
    const profile = profileOf(shellPath, home(shellPath, rc));
    expect(await profile.variables()).not.toHaveProperty("MY_API_KEY");
    expect(await profile.variables()).toMatchObject({ EDITOR_FONT: "mono" });
    expect(profile.environment.droppedValues).toContainEqual({
      name: "MY_API_KEY",
      value: "abcdefgh12345678",
    });
  });

  test("that prints, fails or uses the terminal causes at most a note", async () => {
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

  test("that hangs is ended, and causes only a note", async () => {
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
