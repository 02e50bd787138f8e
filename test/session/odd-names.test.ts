// A session can enter a directory whose name contains bytes that are not UTF-8, newlines or a real
// replacement character. It stays in that directory even if its bash is replaced.
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRange } from "../../src/engine/cursor.ts";
import type { OutputPart } from "../../src/shell/output-part.ts";
import { fsPath, shownPath, textOfBytes } from "../../src/support/path-text.ts";
import { openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

/** Every byte that a file name can contain: 254 bytes, one less than the longest name. */
const EVERY_BYTE = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1).filter((byte) => byte !== 0x2f));

const NAMES: readonly (readonly [string, string])[] = [
  ["a stray byte", textOfBytes(Buffer.from([0x64, 0xff]))],
  ["an incomplete character at its end", textOfBytes(Buffer.from([0x64, 0xe2, 0x82]))],
  ["a newline and a stray byte", textOfBytes(Buffer.from([0x61, 0x0a, 0xff, 0x0a]))],
  ["a newline at its end", "a\nb\n"],
  ["a real replacement character", "d\ufffd"],
  ["quotes, a backslash and a stray byte", textOfBytes(Buffer.from("'\"\\$(x)\xff", "latin1"))],
  ["every byte", textOfBytes(EVERY_BYTE)],
];

const bytesIn = ({ path, from, to }: OutputPart) => textOfBytes(readRange(path, from, to));
/**
 * The name after lossy decoding, with U+FFFD in place of each stray byte. It is the name of another
 * directory.
 */
const misread = (name: string) => name.toWellFormed();

function createDirectory(name: string, parent = shells.directory()) {
  const dir = join(parent, name);
  mkdirSync(fsPath(dir));
  const decoy = join(parent, misread(name));
  if (decoy !== dir && Buffer.byteLength(misread(name)) <= 255) mkdirSync(decoy);
  return { parent, dir, decoy };
}

describe.each([
  ["C.UTF-8", "C.UTF-8"],
  ["C", "C"],
])("in the locale %s", (_, locale) => {
  test.each(NAMES)("a session works in a directory whose name has %s", async (_what, name) => {
    const { parent, dir } = createDirectory(name);
    const { session, run } = openSession(shells, {}, { workingDir: parent });
    await run(`export LC_ALL=${locale}`);
    const moved = await run(`cd -- ${shownWord(name)}`);
    expect(moved).toMatchObject({ exitCode: 0, err: "", cwd: dir, cwdChanged: true, notes: [] });
    const next = await run("pwd; pwd -P; echo x >made");
    expect(bytesIn(next.stdout)).toBe(`${dir}\n${dir}\n`);
    expect(next).toMatchObject({ exitCode: 0, cwd: dir, cwdChanged: false, notes: [] });
    expect(session.cwd).toBe(dir);
    expect(readdirSync(fsPath(dir))).toEqual(["made"]);
    expect(bytesIn((await run("cd / && cd - && pwd")).stdout)).toBe(`${dir}\n${dir}\n`);
  });
});

test.each(NAMES)(
  "a session whose bash was killed continues in a directory whose name has %s",
  async (_, name) => {
    const { parent, dir } = createDirectory(name);
    const { run } = openSession(shells, {}, { workingDir: parent });
    const pid = Number((await run(`cd -- ${shownWord(name)}; x=kept; echo $$`)).out);
    await run("true");
    process.kill(pid, "SIGKILL");
    const after = await run('printf "%s\\0%s\\0%s" "$PWD" "$(pwd -P; echo .)" "$x"');
    expect(bytesIn(after.stdout)).toBe(`${dir}\0${dir}\n.\0kept`);
    expect(after).toMatchObject({ cwd: dir, restarted: true });
    expect(after.notes).toEqual([expect.stringContaining("had ended")]);
    expect(bytesIn((await run("exit 3")).stdout)).toBe("");
    expect(bytesIn((await run("cd .. && cd - >/dev/null && pwd")).stdout)).toBe(`${dir}\n`);
  },
);

test.each(NAMES)(
  "a background command of a session runs in a directory whose name has %s",
  async (_, name) => {
    const { parent, dir } = createDirectory(name);
    const { session, run } = openSession(shells, {}, { workingDir: parent });
    await run(`cd -- ${shownWord(name)}; export X=1`);
    const shell = await session.start('printf "%s" "$PWD" >"$PWD/where"; pwd -P; echo "$X"');
    await shell.wait(20_000);
    expect(shell.workingDir).toBe(dir);
    expect(shell.exitCode).toBe(0);
    expect(bytesIn(wholeOf(shell.outputFiles.stdout))).toBe(`${dir}\n1\n`);
  },
);

test.each(NAMES)("a fresh command runs in a directory whose name has %s", async (_, name) => {
  const { parent, dir } = createDirectory(name);
  const manager = shells.manager({ allowedRoots: [parent] });
  const shell = await shells.run(manager, "pwd; pwd -P; echo x >made", { workingDir: dir });
  expect(bytesIn(wholeOf(shell.outputFiles.stdout))).toBe(`${dir}\n${dir}\n`);
  expect(readdirSync(fsPath(dir))).toEqual(["made"]);
  // Other processes read the directory from disk.
  expect(shell.started.meta.workingDir).toBe(dir);
  expect(manager.findAll().find(({ id }) => id === shell.id)?.workingDir).toBe(dir);
});

test.each(NAMES)(
  "a session enters the directory of a call and saves it, even if its name has %s",
  async (_, name) => {
    const { dir } = createDirectory(name);
    const { run, session } = openSession(shells);
    const there = await run("pwd", { workingDir: dir });
    expect(bytesIn(there.stdout)).toBe(`${dir}\n`);
    expect(there.cwd).toBe(dir);
    const saved = JSON.parse(JSON.stringify(await session.save()));
    const later = openSession(shells, {}, { saved });
    const result = await later.run("pwd -P");
    expect(bytesIn(result.stdout)).toBe(`${dir}\n`);
    expect(result.notes).toEqual([]);
  },
);

describe("a directory whose name is not UTF-8", () => {
  const ODD = textOfBytes(Buffer.from([0x64, 0xff]));

  test("is quoted for bash in a note if it was removed, and the session moves to the parent directory", async () => {
    const { parent, dir } = createDirectory(ODD);
    const { run } = openSession(shells, {}, { workingDir: parent });
    await run(`cd ${shownWord(ODD)}`);
    rmSync(fsPath(dir), { recursive: true });
    const result = await run("pwd");
    expect(result).toMatchObject({ out: `${parent}\n`, cwd: parent });
    expect(result.notes).toEqual([
      `The working directory ${shownPath(dir)} is gone; this command ran in ${parent}.`,
    ]);
    expect(shownPath(dir)).toBe(`$'${parent}/d\\xff'`);
  });

  test("is left for the parent directory if it was removed before bash ends", async () => {
    const { parent, dir } = createDirectory(ODD);
    const { run } = openSession(shells, {}, { workingDir: parent });
    await run(`cd ${shownWord(ODD)}; x=1`);
    rmSync(fsPath(dir), { recursive: true });
    expect((await run("exit 3")).exitCode).toBe(3);
    expect((await run("pwd; echo $x")).out).toBe(`${parent}\n1\n`);
  });

  test("that was removed and created again is entered again", async () => {
    const { parent, dir } = createDirectory(ODD);
    const { run } = openSession(shells, {}, { workingDir: parent });
    await run(`cd ${shownWord(ODD)}`);
    rmSync(fsPath(dir), { recursive: true });
    mkdirSync(fsPath(dir));
    const result = await run("touch x; ls");
    expect(result).toMatchObject({ out: "x\n", cwd: dir });
    expect(result.notes).toEqual([expect.stringContaining("created again")]);
  });

  test("is used under its new name if another process has renamed it", async () => {
    const { parent, dir } = createDirectory(ODD);
    const { session, run } = openSession(shells, {}, { workingDir: parent });
    await run(`cd ${shownWord(ODD)}`);
    const renamed = join(parent, `${ODD}${ODD}`);
    renameSync(fsPath(dir), fsPath(renamed));
    expect(session.directoryFor(undefined)).toBe(renamed);
    const shell = await session.start("pwd -P");
    await shell.wait(20_000);
    expect(bytesIn(wholeOf(shell.outputFiles.stdout))).toBe(`${renamed}\n`);
  });

  test("is resolved through links before it is compared with the allowed directories", async () => {
    const { parent, dir } = createDirectory(ODD);
    const outside = createDirectory(ODD);
    symlinkSync(fsPath(outside.dir), fsPath(join(dir, "out")));
    symlinkSync(fsPath(dir), join(parent, "in"));
    const { run } = openSession(shells, { allowedRoots: [dir] }, { workingDir: dir });
    expect((await run(`cd ${parent}/in`)).cwd).toBe(join(parent, "in"));
    const left = await run("cd out; pwd");
    expect(left.notes).toEqual([
      `${shownPath(`${parent}/in/out`)} is outside the allowed directories; the next command runs in ${parent}/in.`,
    ]);
    expect((await run("pwd")).out).toBe(`${parent}/in\n`);
    await expect(run("pwd", { workingDir: outside.dir })).rejects.toThrow(
      `Working directory is outside the allowed directories (${shownPath(dir)}): ${shownPath(outside.dir)}`,
    );
    // The directory that nacre would use if it decoded the bytes lossily.
    await expect(run("pwd", { workingDir: join(parent, misread(ODD)) })).rejects.toThrow("outside");
  });

  test("that does not exist is refused, and the message quotes it for bash", async () => {
    const manager = shells.manager();
    const dir = join(shells.directory(), ODD);
    const start = manager.createShell({ command: "pwd", workingDir: dir });
    await expect(start).rejects.toThrow(`Working directory does not exist: ${shownPath(dir)}`);
  });

  test("keeps its position on the directory stack in a new bash", async () => {
    const { parent, dir } = createDirectory(ODD);
    const { session, run } = openSession(shells, {}, { workingDir: parent });
    await run(
      `pushd ${shownWord(ODD)}; pushd /usr; mkdir "$OLDPWD"/$'a "\n'; pushd "$OLDPWD"/$'a "\n'; pushd /etc`,
    );
    const stack = ["/etc", `${dir}/a "\n`, "/usr", dir, parent];
    const list = `printf '%s\\0' "\${DIRSTACK[@]}"`;
    const listed = async () =>
      bytesIn((await run(list)).stdout)
        .split("\0")
        .slice(0, -1);
    expect(await listed()).toEqual(stack);
    const ended = await run("exit 1");
    expect(ended.notes).toEqual([expect.not.stringContaining("Not restored")]);
    expect(await listed()).toEqual(stack);
    expect((await run(`compgen -v | grep -c ^__nacre_`)).out).toBe("1\n");
    const saved = JSON.parse(JSON.stringify(await session.save()));
    const later = openSession(shells, {}, { saved });
    expect(bytesIn((await later.run(list)).stdout)).toBe(stack.map((path) => `${path}\0`).join(""));
    expect(bytesIn((await run("popd +1 >/dev/null && popd +1 && popd && pwd")).stdout)).toContain(
      `\n${dir}\n`,
    );
    await run("dirs -c");
    await run("exit 1");
    expect(await listed()).toEqual([dir]);
  });

  test("can be left with popd, and variables keep their bytes in a new bash", async () => {
    const { parent, dir } = createDirectory(ODD);
    const { run } = openSession(shells, {}, { workingDir: parent });
    await run(
      `pushd ${shownWord(ODD)}; export V=$'v\\xff\\xe2' W=$'\\n\\xff'; a=($'\\xfe'); alias s=$'echo \\xff'`,
    );
    expect(bytesIn((await run("dirs -l -p")).stdout)).toBe(`${dir}\n${parent}\n`);
    await run("exit 1");
    const kept = await run('printf "%s|" "$V" "$W" "$a" "$OLDPWD" "$PWD"; alias s');
    expect(bytesIn(kept.stdout)).toBe(
      `v\udcff\udce2|\n\udcff|\udcfe|${parent}|${dir}|alias s='echo \udcff'\n`,
    );
  });

  test("has the same bytes in a DEBUG trap", async () => {
    const { run } = openSession(shells);
    await run("trap $'printf \\xff' DEBUG");
    expect(bytesIn((await run("echo a")).stdout)).toBe("\udcffa\n");
    expect(bytesIn((await run("echo b")).stdout)).toBe("\udcffb\n");
  });
});

test("line numbers of a command are correct even if the directory and a variable contain newlines", async () => {
  const { dir } = createDirectory("a\nb\nc");
  const { run } = openSession(shells);
  for (const options of [{ workingDir: dir }, { env: { X: "1\n2\n3" } }, {}]) {
    const { firstLine, out } = await run("true\necho $LINENO", options);
    expect(Number(out)).toBe(firstLine + 1);
  }
});

test("a directory whose name ends in ' (deleted)' is not treated as deleted", async () => {
  const { parent, dir } = createDirectory("x (deleted)");
  mkdirSync(join(parent, "x"));
  const { run } = openSession(shells, {}, { workingDir: parent });
  expect((await run("cd 'x (deleted)'; PWD=/nonsense")).cwd).toBe(dir);
});

test("a directory with surrogates that represent no byte is refused", async () => {
  const manager = shells.manager();
  for (const dir of ["/tmp/\ud800", "/tmp/\udcc3\udca4"]) {
    await expect(manager.createShell({ command: "pwd", workingDir: dir })).rejects.toThrow(
      "Working directory is not a path (it contains a lone surrogate that represents no byte)",
    );
  }
});

function shownWord(name: string): string {
  return shownPath(`\n${name}`).replace("\\x0a", "");
}

function wholeOf(path: string): OutputPart {
  return { path, from: 0, to: Number.MAX_SAFE_INTEGER } as OutputPart;
}
