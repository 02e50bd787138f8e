import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { NacreError } from "../../src/support/errors.ts";
import { isLong } from "../fixtures/long.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import { giveAway, unprivileged, useSpecialHosts } from "../fixtures/special-host.ts";

const { manager, run, directory } = useShells();
const specialHost = useSpecialHosts();

function program(text: string, mode = 0o755): string {
  const file = join(directory(), "bash");
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function refusedManager(shellPath: string): NacreError {
  try {
    new ShellManager({ stateRoot: directory(), shellPath });
  } catch (error) {
    if (error instanceof NacreError) return error;
    throw error;
  }
  throw new Error(`${shellPath} was not refused`);
}

test("the error names a bash that does not exist", () => {
  const error = refusedManager("/nonexistent/bash");
  expect(error.code).toBe("spawn_failed");
  expect(error.message).toBe("The shell /nonexistent/bash cannot be used: it does not exist.");
});

test("the error names a bash that is not executable", () => {
  const file = program("#!/bin/bash\n", 0o644);
  expect(refusedManager(file).message).toBe(`The shell ${file} cannot be used: it is not executable.`);
});

test("the error names a bash that is a directory or a relative path", () => {
  const dir = directory();
  expect(refusedManager(dir).message).toBe(`The shell ${dir} cannot be used: it is not a file.`);
  expect(refusedManager("bash").message).toBe("The shell bash cannot be used: it is not an absolute path.");
});

test("a bash that is a symbolic link to itself is refused with a NacreError", () => {
  const link = join(directory(), "bash");
  symlinkSync(link, link);
  expect(refusedManager(link).message).toContain(`The shell ${link} cannot be used`);
});

test("a failed start names a bash that was removed after the manager was created", async () => {
  const path = join(directory(), "bash");
  copyFileSync("/bin/bash", path);
  const shells = manager({ shellPath: path });
  unlinkSync(path);
  const start = shells.createShell({ command: "true", workingDir: "/" });
  await expect(start).rejects.toThrow(`No process could be started: ${path} does not exist.`);
  // Restore the file: the manager must try it again.
  copyFileSync("/bin/bash", path);
  expect((await run(shells, "exit 8")).exitCode).toBe(8);
});

test.each([
  ["exits at once", "#!/bin/sh\nexit 0\n"],
  ["prints something else", "#!/bin/sh\necho Welcome\nexit 0\n"],
  ["is not a program", "\x7fELF nonsense"],
  ["needs an interpreter that is missing", "#!/nonexistent/interpreter\n"],
])("every start with a bash that %s fails with spawn_failed, and no start hangs", async (_, text) => {
  const shells = manager({ shellPath: program(text) });
  const starts = [1, 2, 3].map(() => shells.createShell({ command: "true", workingDir: "/" }));
  for (const start of await Promise.allSettled(starts)) {
    expect(start).toMatchObject({ status: "rejected", reason: { name: "NacreError", code: "spawn_failed" } });
    expect(start.status === "rejected" && String(start.reason)).toMatch(
      /keeper did not start|No process could/,
    );
  }
});

test("if PATH is empty or has no bash, bash is found in the standard directories", async () => {
  for (const PATH of ["", "/nonexistent", "relative:./bin"]) {
    const host = specialHost({ env: { PATH } });
    await host.manager({ stateRoot: directory() });
    const { id } = await host.start({ command: "exit 3" });
    expect(await host.wait(id)).toMatchObject({ exitCode: 3 });
    expect(await host.leave()).toBe(0);
  }
});

test("a file called bash in PATH that is not executable is skipped", async () => {
  const dir = directory();
  writeFileSync(join(dir, "bash"), "not a program");
  const host = specialHost({ env: { PATH: `${dir}:/usr/bin:/bin` } });
  await host.manager({ stateRoot: directory() });
  const { id } = await host.start({ command: "exit 3" });
  expect(await host.wait(id)).toMatchObject({ exitCode: 3 });
});

test("directories in PATH that the user may not enter are skipped in the search for bash", async () => {
  const closed = join(directory(), "closed");
  mkdirSync(closed, { mode: 0o000 });
  const state = giveAway(directory());
  const host = specialHost({ prefix: unprivileged, env: { PATH: `${closed}:/usr/bin:/bin` } });
  await host.manager({ stateRoot: join(state, "state") });
  const { id } = await host.start({ command: "exit 3" });
  expect(await host.wait(id)).toMatchObject({ exitCode: 3 });
});

test("commands run in bash, whatever the login shell of the user is", async () => {
  // The unprivileged host runs as a user without an entry in /etc/passwd, so it has no login shell.
  const host = specialHost({ prefix: unprivileged, env: { SHELL: "/bin/sh" } });
  await host.manager({ stateRoot: join(giveAway(directory()), "state") });
  for (let i = 0; i < 3; i++) {
    const { id } = await host.start({
      command: `echo "\${BASH_VERSION:+bash} $V"; pwd`,
      workingDir: "/usr",
      env: { V: "5" },
    });
    expect(await host.wait(id)).toMatchObject({ exitCode: 0 });
    expect(await host.ask("output", { id })).toBe("bash 5\n/usr\n");
  }
});

test("a host exits by itself after all of its starts failed", async () => {
  const host = specialHost();
  await host.manager({ stateRoot: directory(), shellPath: program("#!/bin/sh\nexit 0\n") });
  expect(await host.refusedStart({ command: "true" })).toMatchObject({ name: "NacreError" });
  expect(await host.refusedStart({ command: "true" })).toMatchObject({ name: "NacreError" });
  expect(await host.leave()).toBe(0);
});

test.runIf(isLong)("a bash that never answers is given up and killed", { timeout: 60_000 }, async () => {
  const pidFile = join(directory(), "pid");
  const shells = manager({ shellPath: program(`#!/bin/sh\necho $$ > ${pidFile}\nexec sleep 300\n`) });
  const start = shells.createShell({ command: "true", workingDir: "/" });
  await expect(start).rejects.toThrow("did not greet in time. Is it bash?");
  const pid = Number(readFileSync(pidFile, "utf8"));
  try {
    await eventually(() => expect(isAlive(pid)).toBe(false));
  } finally {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  }
});
