import { chmodSync, mkdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NacreError } from "../../src/support/errors.ts";
import { useShells } from "../fixtures/shells.ts";
import { giveAway, unprivileged, useSpecialHosts } from "../fixtures/special-host.ts";

const { manager, run, directory } = useShells();
const specialHost = useSpecialHosts();

async function refusal(workingDir: string): Promise<NacreError> {
  const error: unknown = await manager()
    .createShell({ command: "true", workingDir })
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  if (!(error instanceof NacreError)) throw new Error(`not refused as expected: ${String(error)}`);
  expect(error.code).toBe("spawn_failed");
  return error;
}

test("the error names a working directory that does not exist, and does not blame bash", async () => {
  const dir = join(directory(), "missing");
  expect((await refusal(dir)).message).toBe(`Working directory does not exist: ${dir}`);
});

test("the error names a working directory that is a file", async () => {
  const file = join(directory(), "file");
  writeFileSync(file, "");
  expect((await refusal(file)).message).toBe(`Working directory is not a directory: ${file}`);
  expect((await refusal(join(file, "below"))).message).toBe(
    `Working directory is not a directory: ${join(file, "below")}`,
  );
});

test("a dangling symbolic link is reported as a working directory that does not exist", async () => {
  const link = join(directory(), "link");
  symlinkSync("/nonexistent/nowhere", link);
  expect((await refusal(link)).message).toBe(`Working directory does not exist: ${link}`);
});

test("a symbolic link to itself is refused with its path", async () => {
  const link = join(directory(), "loop");
  symlinkSync(link, link);
  expect((await refusal(link)).message).toMatch(/^Working directory .*ELOOP.*loop$/);
});

test("a working directory that is relative or contains a NUL is refused", async () => {
  expect((await refusal("tmp")).message).toBe("Working directory is not an absolute path: tmp");
  expect((await refusal("/tmp\0/x")).message).toContain("contains a NUL character");
});

test("the error names a working directory that the user may not enter", async () => {
  const state = giveAway(directory());
  const closed = join(directory(), "closed");
  mkdirSync(closed);
  giveAway(closed);
  chmodSync(closed, 0o600);
  // Root may enter any directory, so use an unprivileged host. Make the parent accessible to that host.
  chmodSync(join(closed, ".."), 0o755);
  const host = specialHost({ prefix: unprivileged });
  await host.manager({ stateRoot: join(state, "state") });
  expect(await host.refusedStart({ command: "true", workingDir: closed })).toMatchObject({
    code: "spawn_failed",
    message: `Working directory cannot be entered (permission denied): ${closed}`,
  });
  chmodSync(closed, 0o700);
  const { id } = await host.start({ command: "exit 6", workingDir: closed });
  expect(await host.wait(id)).toMatchObject({ exitCode: 6 });
});

test("if the working directory vanishes during the start, the start fails; there is no exit code", async () => {
  const dir = join(directory(), "short-lived");
  mkdirSync(dir);
  const starting = manager().createShell({ command: "echo ran", workingDir: dir });
  rmdirSync(dir);
  const shell = await starting;
  await shell.wait(10_000);
  expect(shell).toMatchObject({ status: "failed", exitCode: null, outcome: { kind: "failedToStart" } });
  expect(shell.outcome).toMatchObject({ reason: "the working directory was gone when it started" });
  expect(shell.getAllOutput()).toBe("");
});

test("if the directory of a background run is gone, the output file says that the start failed", async () => {
  const dir = join(directory(), "vanishing");
  mkdirSync(dir);
  const options = { workingDir: dir, streams: "merged", trailer: true, durable: true } as const;
  const starting = manager().createShell({ command: "echo ran", ...options });
  rmdirSync(dir);
  const shell = await starting;
  await shell.wait(10_000);
  expect(readFileSync(shell.outputFiles.stdout, "utf8")).toBe(
    "\n\n[background process error: the working directory was gone when it started]\n",
  );
});

test.each(["with space", "-", "--", "-P", "*", "$HOME", "a\nb", "'\"", "ünï", " trailing "])(
  "a command runs in a directory called %j",
  async (name) => {
    const dir = join(directory(), name);
    mkdirSync(dir);
    const shell = await run(manager(), 'printf "%s" "$PWD"; readlink -n /proc/self/cwd >&2', {
      workingDir: dir,
    });
    expect(readFileSync(shell.outputFiles.stdout, "utf8")).toBe(dir);
    expect(readFileSync(shell.outputFiles.stderr, "utf8")).toBe(dir);
  },
);

test("CDPATH neither changes the directory of a command nor prints anything", async () => {
  const dir = directory();
  const shell = await run(manager({ environment: { set: { CDPATH: "/usr:/" } } }), "pwd", {
    workingDir: dir,
  });
  expect(shell.getAllOutput()).toBe(`${dir}\n`);
});

test("a command continues after its working directory is removed", async () => {
  const dir = join(directory(), "gone");
  mkdirSync(dir);
  const shell = await run(manager(), `echo here; rmdir ${dir}; echo still; exit 3`, { workingDir: dir });
  expect(shell).toMatchObject({ exitCode: 3, status: "failed" });
  expect(shell.getAllOutput()).toBe("here\nstill\n");
});

test("a host whose own directory was deleted keeps working", async () => {
  const state = directory();
  const own = join(directory(), "own");
  mkdirSync(own);
  const host = specialHost({ cwd: own });
  await host.manager({ stateRoot: state });
  const { id: before } = await host.start({ command: "read -r line < /proc/self/stat; exit 1" });
  expect(await host.wait(before)).toMatchObject({ exitCode: 1 });
  await host.ask("removeDirectory", { path: own });
  const { id: after } = await host.start({ command: "pwd; exit 2", workingDir: state });
  expect(await host.wait(after)).toMatchObject({ exitCode: 2 });
  expect(await host.ask("output", { id: after })).toBe(`${state}\n`);
  expect(await host.leave()).toBe(0);
});

test("a host whose own directory was deleted before its first start works", async () => {
  const state = directory();
  const own = join(directory(), "own");
  mkdirSync(own);
  const host = specialHost({ cwd: own });
  await host.ask("removeDirectory", { path: own });
  await host.manager({ stateRoot: state });
  const { id } = await host.start({ command: "echo ok; echo $OLDPWD", workingDir: "/" });
  expect(await host.wait(id)).toMatchObject({ exitCode: 0, remarks: [] });
  expect(await host.ask("output", { id })).toBe("ok\n\n");
});
