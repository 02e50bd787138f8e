// A file operation and the shell command with the same effect get the same verdict.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Toolkit } from "../../src/toolkit.ts";
import { useFileTools } from "../fixtures/file-tools.ts";

const world = useFileTools();
const home = process.env["HOME"];
let kit: Toolkit;

beforeEach(async () => {
  const dir = join(world.outside(), "home");
  for (const name of [".ssh", ".config/nacre", "docs"]) mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, ".ssh/id_ed25519"), "key\n");
  writeFileSync(join(dir, ".bashrc"), "");
  writeFileSync(world.path("a.txt"), "a\n");
  symlinkSync(join(dir, ".ssh/id_ed25519"), world.path("key"));
  symlinkSync(dir, world.path("home"));
  symlinkSync(join(dir, ".ssh"), world.path("dir"));
  mkdirSync(world.path(".git/hooks"), { recursive: true });
  process.env["HOME"] = dir;
  kit = await world.open();
});
afterAll(() => {
  process.env["HOME"] = home;
});

const PATHS = [
  "a.txt",
  "./a.txt",
  "new/dir/file.txt",
  "key",
  "home/.ssh/id_ed25519",
  "home/docs/../.ssh/id_ed25519",
  "~/.ssh/id_ed25519",
  "~/.ssh/authorized_keys",
  "~/.aws/credentials",
  "~/.bashrc",
  "~/docs/note.txt",
  "~/.config/nacre/policy.json",
  ".nacre/policy.json",
  ".git/hooks/pre-commit",
  ".git/config",
  ".env",
  ".mcp.json",
  ".vscode/settings.json",
  "package.json",
  "/etc/passwd",
  "/etc/shadow",
  "/etc/hosts",
  "/etc/cron.d/job",
  "/usr/bin/env",
  "/boot/vmlinuz",
  "/dev/sda",
  "/proc/self/root/etc/shadow",
  "/proc/sysrq-trigger",
  "/var/log/syslog",
  "/root/.profile",
  "/srv/data.txt",
  "../outside/x",
  "with space 'and' \"quotes\" $HOME `x`",
];

const unquoted = (path: string) => (path.startsWith("~/") ? `${process.env["HOME"]}${path.slice(1)}` : path);
const quoted = (path: string) => `'${unquoted(path).replaceAll("'", "'\\''")}'`;

/** The verdict on the operation, from its verdict event. */
async function verdictOf(tool: string, args: object): Promise<{ verdict: string; rule: string | null }> {
  const seen: { verdict: string; rule: string | null }[] = [];
  const stop = kit.on("verdict", ({ verdict, rule }) => seen.push({ verdict, rule }));
  await kit.call(tool as string, args, { dryRun: true });
  stop();
  const [first] = seen;
  if (!first) throw new Error(`${tool} ${JSON.stringify(args)} was not judged`);
  return first;
}

const commandVerdict = (command: string) => {
  const { verdict, rule } = kit.check(command);
  return { verdict, rule };
};

test("Read gets the verdicts of cat", async () => {
  for (const path of PATHS) {
    const verdict = await verdictOf("Read", { file_path: path });
    expect([path, verdict]).toEqual([path, commandVerdict(`cat ${quoted(path)}`)]);
  }
});

test("Write and Edit get the verdicts of tee and of a redirection", async () => {
  for (const path of PATHS) {
    const verdict = await verdictOf("Write", { file_path: path, content: "x" });
    const directory = dirname(resolve(world.work(), unquoted(path)));
    const parent = existsSync(directory) ? "" : `mkdir -p ${quoted(directory)} && `;
    expect([path, verdict]).toEqual([path, commandVerdict(`${parent}tee ${quoted(path)}`)]);
    const redirected = commandVerdict(`${parent}cat > ${quoted(path)}`);
    expect([path, verdict.verdict]).toEqual([path, redirected.verdict]);
    const edit = await verdictOf("Edit", { file_path: path, old_string: "a", new_string: "b" });
    expect([path, edit]).toEqual([path, verdict]);
  }
});

test("Grep gets the verdicts of rg, and Glob gets the verdicts of rg --files", async () => {
  for (const path of ["~/", "~/.ssh", "home/.ssh", "dir", "/etc", ".", "/"]) {
    const grep = await verdictOf("Grep", { pattern: "x", path });
    expect([path, grep]).toEqual([path, commandVerdict(`rg x ${quoted(path)}`)]);
    const glob = await verdictOf("Glob", { pattern: "*", path });
    expect([path, glob]).toEqual([path, commandVerdict(`rg --files ${quoted(path)}`)]);
  }
});

test("the table above contains different verdicts", async () => {
  const seen = new Set<string>();
  for (const path of PATHS) seen.add((await verdictOf("Write", { file_path: path, content: "" })).verdict);
  expect([...seen].sort()).toEqual(["allow", "ask", "deny"]);
});
