import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { resolveExecutionOptions } from "../../src/execution/execution-options.ts";
import { notesOn } from "../../src/execution/notes.ts";
import { createContext } from "../../src/tool/context.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, run, directory } = useShells();

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Runs a command and returns the notes on it. */
async function notesAfter(
  command: string,
  {
    files = [] as string[],
    leftovers = [] as { pid: number; command: string }[],
    shells = manager({ environment: { mode: "none" } }),
  } = {},
) {
  const workingDir = directory();
  for (const file of files) writeFileSync(join(workingDir, file), "");
  const shell = await run(shells, command, { workingDir });
  const { exitCode, outcome, remarks } = shell;
  return notesOn({
    ended: { command, exitCode, outcome, remarks, leftovers, workingDir },
    context: createContext({ workingDir }),
    options: resolveExecutionOptions({ manager: shells }),
    howToEnd: "This is how.",
  });
}

describe("notes", () => {
  test("are empty for an ordinary command", async () => {
    expect(await notesAfter("false")).toEqual([]);
  });

  test("name every leftover and how to end it", async () => {
    const leftovers = [
      { pid: 1, command: "one" },
      { pid: 2, command: "two" },
    ];
    expect(await notesAfter("true", { leftovers })).toEqual([
      "Left running: one (pid 1), two (pid 2). This is how.",
    ]);
  });

  test("include the remarks of the shell about its output", async () => {
    const shells = manager({ environment: { mode: "none" }, capBytes: 4096 });
    expect((await notesAfter("head -c 9000 /dev/zero", { shells })).join()).toContain("output cap reached");
  });

  test.each([
    ["cat my file", "my file"],
    ["cd the dir && ls; exit 1", "the dir"],
    ["(cat ./a b.txt >x)", "./a b.txt"],
    ["cat 'quoted' a b c", "a b c"],
  ])("name the unquoted path in %j", async (command, path) => {
    expect(await notesAfter(command, { files: [path] })).toEqual([
      `"${path}" exists: quote paths that contain spaces.`,
    ]);
  });

  test("name a dropped variable even if the name of another one is no valid regular expression", async () => {
    vi.stubEnv("BASH_FUNC_[x(%%", "() { :; }");
    vi.stubEnv("NACRE_TEST_PASSWORD", "hush-hush-4711");
    const shells = manager();
    const [first = ""] = await notesAfter("true", { shells });
    expect(first).toContain("NACRE_TEST_PASSWORD");
    expect(await notesAfter("false [x", { shells })).toEqual([]);
    expect(await notesAfter('echo "$NACRE_TEST_PASSWORD"; false', { shells })).toEqual([
      "Not passed on to commands (secrets, or variables that inject code): NACRE_TEST_PASSWORD",
    ]);
  });
});
