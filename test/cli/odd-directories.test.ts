// The built program with directories and arguments that are not UTF-8. Node would decode the name of a directory
// lossily and open another directory by mistake. The tests create that other directory too, so that they detect the
// mistake.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { fsPath, textOfBytes } from "../../src/support/path-text.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";

const { dir } = useCli();
const ODD = textOfBytes(Buffer.from([0x64, 0xff]));
const odd = () => join(dir(), ODD);

beforeEach(() => {
  mkdirSync(fsPath(odd()));
  mkdirSync(join(dir(), "d\ufffd"));
});

/** Runs a line of bash in which `nacre` is the built program. Only bash can pass arguments that are not UTF-8. */
function line(text: string) {
  const script = `nacre() { "$NODE" "$NACRE" "$@"; }; ${text}`;
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], {
    cwd: dir(),
    env: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      NACRE_HOME: join(dir(), "state"),
      ...{ NODE: process.execPath, NACRE: program },
    },
  });
  return { code: status, stdout: textOfBytes(stdout), stderr: textOfBytes(stderr) };
}

test("a named session continues in the directory of the last command", () => {
  expect(line("nacre run --session work \"cd \\$'d\\xff'\"")).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(line("nacre run --session work 'pwd; pwd -P'")).toEqual({
    code: 0,
    stdout: `${odd()}\n${odd()}\n`,
    stderr: "",
  });
  const { code, stdout } = line("nacre run --session work -b 'pwd -P | od -An -v -tx1 | tr -d \" \\n\"'");
  expect(code).toBe(0);
  expect(line(`nacre wait ${stdout.trim()}; nacre output ${stdout.trim()}`).stdout).toContain("2f64ff0a");
  const moved = line("nacre run --session other --json \"cd \\$'d\\xff'\"");
  expect(JSON.parse(moved.stdout)).toMatchObject({ cwd: `$'${dir()}/d\\xff'` });
});

test.each([
  ["--cwd and its value", "nacre run --cwd $'d\\xff' 'pwd -P'"],
  ["--cwd=", "nacre run --cwd=\"$PWD\"/$'d\\xff' 'pwd -P'"],
  ["--cwd for a session", "nacre run --session work --cwd $'d\\xff' 'pwd -P'"],
  ["--cwd with a mode", "nacre run --mode slow --cwd $'d\\xff' 'pwd -P'"],
  ["nacre's initial directory", "cd $'d\\xff'; nacre run 'pwd -P'"],
  ["nacre's initial directory and a session", "cd $'d\\xff'; nacre run --session work 'pwd -P'"],
  [
    "a path below nacre's initial directory",
    "mkdir $'d\\xff/a'; cd $'d\\xff'; nacre run --cwd a/.. 'pwd -P'",
  ],
])("a command runs in the correct directory: %s", (_, text) => {
  expect(line(text)).toEqual({ code: 0, stdout: `${odd()}\n`, stderr: "" });
});

test("run --json uses the exact directory, and the list of shells shows it in bash's quoting", () => {
  const shown = `$'${dir()}/d\\xff'`;
  const json = line(
    "nacre run --json --mode default --cwd $'d\\xff' 'pwd -P | od -An -tx1 | tr -d \" \\n\"'",
  );
  expect(JSON.parse(json.stdout).output).toContain("2f64ff0a");
  const id = line("nacre run -b --cwd $'d\\xff' true").stdout.trim();
  line(`nacre wait ${id}`);
  const listed = line("nacre ps --all --json").stdout;
  expect(listed).not.toMatch(/\\ud[89a-f]/i);
  const shells: { id: string; cwd: string }[] = JSON.parse(listed).shells;
  expect(shells.find((shell) => shell.id === id)?.cwd).toBe(shown);
  expect(line("nacre ps --all").stdout).toContain(shown);
});

test("the error about a missing directory shows the exact bytes of its name", () => {
  const { code, stderr } = line("nacre run --cwd $'e\\xff' true");
  expect(code).not.toBe(0);
  expect(stderr).toContain(`Working directory does not exist: $'${dir()}/e\\xff'`);
});

test("arguments of a command keep their bytes", () => {
  const { code } = line("nacre run --cwd $'d\\xff' -- touch $'f\\xfe' \"it's\"$'\\xff'");
  expect(code).toBe(0);
  const made = readdirSync(fsPath(odd()), "buffer").map((name) => name.toString("hex"));
  expect(made.sort()).toEqual(["66fe", `${Buffer.from("it's").toString("hex")}ff`]);
});

test("in a directory whose name is not UTF-8, nacre reads the workspace's rules and writes files", () => {
  expect(
    line("cd $'d\\xff' && mkdir .nacre && echo '{' >.nacre/policy.json; nacre run true").stderr,
  ).toContain(`The policy file $'${dir()}/d\\xff/.nacre/policy.json' cannot be used`);
  expect(line("cd $'d\\xff' && nacre init claude-code --write").code).toBe(0);
  expect(readFileSync(fsPath(join(odd(), ".mcp.json")), "utf8")).toContain("nacre");
  expect(readdirSync(join(dir(), "d\ufffd"))).toEqual([]);
});
