// If a state directory is not writable or cannot exist, every command names it and the remedy, and no command hangs.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { CANNOT_MOUNT, canMount, giveAway, onSmallDisk, unprivileged } from "../fixtures/special-host.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";

const { dir, nacre } = useCli();

/** Every command that starts something. */
const START_COMMANDS = [
  ["run", "true"],
  ["run", "-b", "true"],
  ["run", "--durable", "true"],
  ["run", "--json", "true"],
  ["run", "-b", "--json", "true"],
  ["run", "--session", "work", "true"],
  ["run", "--session", "work", "--json", "true"],
  ["run", "--session", "work", "-b", "true"],
  ["run", "--sandbox", "read-only", "true"],
];

function nacreWithPrefix(prefix: readonly string[], state: string, words: readonly string[]) {
  const [file = "", ...args] = [...prefix, process.execPath, program, ...words];
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: "/",
    env: { PATH: process.env["PATH"], HOME: "/", NACRE_HOME: state },
    encoding: "utf8",
    timeout: 20_000,
  });
  return { code: status, stdout, stderr };
}

function expectRefusals(prefix: readonly string[], state: string): void {
  for (const words of START_COMMANDS) {
    const { code, stdout, stderr } = nacreWithPrefix(prefix, state, words);
    expect({ words, code, stderr }).toEqual({
      words,
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `^nacre: The state directory ${state} cannot be used: .+ Set NACRE_HOME to a directory you own\\.\\n$`,
        ),
      ),
    });
    if (words.includes("--json")) expect(JSON.parse(stdout)).toMatchObject({ error_code: "spawn_failed" });
    else expect(stdout).toBe("");
  }
  const { code, stdout } = nacreWithPrefix(prefix, state, ["doctor"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    new RegExp(`^failed +state root +The state directory ${state} cannot be used: .+NACRE_HOME`, "m"),
  );
  expect(stdout).toMatch(/nacre does not work here: 1 problem to fix\.\n$/);
}

test("the error about a read-only disk names the directory and the remedy", ({ skip }) => {
  skip(!canMount(), CANNOT_MOUNT);
  const disk = join(dir(), "disk");
  mkdirSync(disk);
  const readOnly = onSmallDisk(disk, "ro");
  expectRefusals(readOnly, join(disk, "state"));
  // The directory exists and other users can read it. nacre cannot restrict its mode on a read-only disk.
  expect(nacreWithPrefix(readOnly, disk, ["run", "true"]).stderr).toContain(
    `The state directory ${disk} cannot be used: EROFS`,
  );
});

test("the error about a full disk names the directory and the remedy, even with a sandbox", ({ skip }) => {
  skip(!canMount(), CANNOT_MOUNT);
  const disk = join(dir(), "disk");
  mkdirSync(disk);
  const state = join(disk, "state");
  const fill =
    'mkdir "$0" && head -c 2M /dev/zero > "$0/../filler" 2>/dev/null; "$@"; code=$?; find "$0" -type f';
  const full = [...onSmallDisk(disk), "bash", "-c", `${fill}; exit $code`, state];
  const doctor = nacreWithPrefix(full, state, ["doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(
    new RegExp(`^failed +state root +${state}: no space left\\n +fix: Free some .*NACRE_HOME`, "m"),
  );
  expect(doctor.stdout).toMatch(/nacre does not work here: 1 problem to fix\.\n$/);
  expect(nacreWithPrefix(full, state, ["run", "--sandbox", "read-only", "true"])).toEqual({
    code: 1,
    stdout: "",
    stderr: `nacre: The sandbox cannot be prepared: no space is left for ${state}/sandbox. Free some space, or set NACRE_HOME to a directory on another disk.\n`,
  });
});

test("the error about a directory without write permission names the directory and the remedy", () => {
  const parent = join(dir(), "parent");
  mkdirSync(parent);
  chmodSync(dir(), 0o755);
  giveAway(parent);
  chmodSync(parent, 0o555);
  expectRefusals(unprivileged, join(parent, "state"));
});

test("every command refuses a directory that cannot exist, and no command hangs", () => {
  expectRefusals([], "/proc/nacre");
});

test("shells on a disk that became read-only are still listed, read and killed", async ({ skip }) => {
  skip(!canMount(), CANNOT_MOUNT);
  const { stdout } = await nacre("run", "-b", "echo hi; exec sleep 1000");
  const id = stdout.trim();
  await nacre("wait", id, "--for", "hi");
  const state = join(dir(), "state");
  const bind = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  const [unshare = "", own = ""] = onSmallDisk(state);
  const readOnly = [unshare, own, "bash", "-c", bind, state];
  expect(nacreWithPrefix(readOnly, state, ["ps"]).stdout).toMatch(new RegExp(`^${id} +running`, "m"));
  expect(nacreWithPrefix(readOnly, state, ["output", id])).toMatchObject({ code: 0, stdout: "hi\n" });
  expect(nacreWithPrefix(readOnly, state, ["kill", id])).toMatchObject({
    code: 0,
    stdout: `Shell ${id} terminated\n`,
  });
  const clean = nacreWithPrefix(readOnly, state, ["clean"]);
  expect(clean.code).toBe(1);
  expect(clean.stderr).toMatch(new RegExp(`^nacre: ${id} cannot be removed: EROFS`));
});

test("every command refuses a relative NACRE_HOME, because its meaning would depend on the directory", () => {
  writeFileSync(join(dir(), "here"), "");
  for (const words of [["run", "true"], ["run", "--session", "work", "true"], ["ps"], ["kill", "--all"]]) {
    expect(nacreWithPrefix([], "here", words)).toEqual({
      code: 1,
      stdout: "",
      stderr: "nacre: NACRE_HOME must be an absolute path; it is here.\n",
    });
  }
});

test.each([
  ["NACRE_HOME", "own", "own"],
  ["XDG_STATE_HOME", "xdg", "xdg/nacre"],
])("a command that writes to the state directory of %s needs approval", async (name, value, root) => {
  vi.stubEnv("NACRE_HOME", "");
  vi.stubEnv(name, join(dir(), value));
  const check = (command: string) => nacre("check", "--cwd", dir(), command);
  expect((await check(`echo x > ${join(dir(), root, "sessions/work")}`)).code).toBe(3);
  expect((await check(`echo x > ${join(dir(), "beside")}`)).code).toBe(0);
});
