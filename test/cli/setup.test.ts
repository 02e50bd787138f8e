// init, the tour and help.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { CLIENTS } from "../../src/cli/clients.ts";
import { CANNOT_MOUNT, canMount, onSmallDisk } from "../fixtures/special-host.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, nacreWith, dir } = useCli();

describe("init", () => {
  function pathWithNacre(): void {
    mkdirSync(join(dir(), "bin"));
    writeFileSync(join(dir(), "bin/nacre"), "#!/bin/sh\n");
    chmodSync(join(dir(), "bin/nacre"), 0o755);
    vi.stubEnv("PATH", `${join(dir(), "bin")}:${process.env["PATH"]}`);
    vi.stubEnv("CODEX_HOME", join(dir(), "codex"));
  }

  test("prints the configuration of each client, and writes nothing", async () => {
    pathWithNacre();
    const printed = async (client: string) => (await nacre("init", client)).stdout;
    const args = ["mcp"];
    const plain = { command: "nacre", args };
    const typed = { type: "stdio", ...plain };
    expect(JSON.parse(await printed("claude-code"))).toEqual({ mcpServers: { nacre: typed } });
    expect(JSON.parse(await printed("gemini"))).toEqual({ mcpServers: { nacre: plain } });
    expect(JSON.parse(await printed("cursor"))).toEqual({ mcpServers: { nacre: plain } });
    expect(JSON.parse(await printed("vscode"))).toEqual({ servers: { nacre: typed } });
    expect(JSON.parse(await printed("opencode"))).toEqual({
      mcp: { nacre: { type: "local", command: ["nacre", "mcp"], enabled: true } },
    });
    expect(await printed("codex")).toBe('[mcp_servers.nacre]\ncommand = "nacre"\nargs = ["mcp"]\n');
    for (const { projectFile } of CLIENTS) {
      if (projectFile) expect(existsSync(join(dir(), projectFile))).toBe(false);
    }
  });

  test("if nacre is not in PATH, init names the running program, followed by the server's options", async () => {
    vi.stubEnv("PATH", "/usr/bin:/bin");
    const { stdout } = await nacre("init", "cursor", "--", "--policy", "cautious");
    const { command, args } = JSON.parse(stdout).mcpServers.nacre;
    expect(command).toBe(process.execPath);
    expect(args.slice(1)).toEqual(["mcp", "--policy", "cautious"]);
    expect(existsSync(args[0])).toBe(true);
  });

  test("if only npx has nacre in its PATH, init names the running program", async () => {
    const bin = join(dir(), "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "nacre"), "#!/bin/sh\n", { mode: 0o755 });
    vi.stubEnv("PATH", `${bin}:/usr/bin:/bin`);
    const { stdout } = await nacre("init", "cursor");
    expect(JSON.parse(stdout).mcpServers.nacre.command).toBe(process.execPath);
  });

  test("--write adds the entry to the file, keeps a backup, and does nothing the second time", async () => {
    pathWithNacre();
    const file = join(dir(), ".mcp.json");
    const before = '{\n    "mcpServers": {\n        "other": {"command": "x"}\n    },\n    "mine": 1\n}\n';
    writeFileSync(file, before, { mode: 0o640 });
    const { code, stderr } = await nacre("init", "claude", "--write");
    expect(code).toBe(0);
    expect(stderr).toContain(`The previous version is in ${file}.bak.`);
    expect(readFileSync(`${file}.bak`, "utf8")).toBe(before);
    const after = readFileSync(file, "utf8");
    expect(after).toMatch(/^\{\n {4}"mcpServers"/);
    expect(JSON.parse(after)).toEqual({
      mcpServers: { other: { command: "x" }, nacre: { type: "stdio", command: "nacre", args: ["mcp"] } },
      mine: 1,
    });
    expect((await nacre("init", "claude", "--write")).stderr).toContain("nothing was changed");
    expect(existsSync(`${file}.bak-2`)).toBe(false);
    await nacre("init", "claude", "--write", "--", "--durable");
    expect(readFileSync(`${file}.bak-2`, "utf8")).toBe(after);
  });

  test("--write creates a missing file, and follows a symbolic link", async () => {
    pathWithNacre();
    expect((await nacre("init", "vscode", "--write")).code).toBe(0);
    expect(JSON.parse(readFileSync(join(dir(), ".vscode/mcp.json"), "utf8"))).toHaveProperty("servers.nacre");
    writeFileSync(join(dir(), "real.json"), "{}");
    mkdirSync(join(dir(), ".cursor"));
    symlinkSync("../real.json", join(dir(), ".cursor/mcp.json"));
    expect((await nacre("init", "cursor", "--write")).code).toBe(0);
    expect(JSON.parse(readFileSync(join(dir(), "real.json"), "utf8"))).toHaveProperty("mcpServers.nacre");
    symlinkSync("elsewhere/to-come.json", join(dir(), ".mcp.json"));
    expect((await nacre("init", "claude-code", "--write")).code).toBe(0);
    const created = readFileSync(join(dir(), "elsewhere/to-come.json"), "utf8");
    expect(JSON.parse(created)).toHaveProperty("mcpServers.nacre");
  });

  test("a path that is not a regular file is named in the error and not changed", async () => {
    pathWithNacre();
    const file = join(dir(), "opencode.json");
    const expectRefused = async () => {
      const { code, stderr } = await nacre("init", "opencode", "--write");
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining(`${file} cannot be read and was not changed: `),
      });
      rmSync(file, { recursive: true });
    };
    mkdirSync(file);
    await expectRefused();
    symlinkSync("opencode.json", file);
    await expectRefused();
    execFileSync("mkfifo", [file]);
    await expectRefused();
  });

  test("a file that cannot be written is not changed, and no temporary file is left", async ({ skip }) => {
    skip(!canMount(), CANNOT_MOUNT);
    const disk = join(dir(), "disk");
    mkdirSync(disk);
    // Leaves one page free, which is only enough for the backup.
    const fill =
      'echo "{}" > "$0/.mcp.json"; head -c 4K /dev/zero > "$0/room"; head -c 1M /dev/zero > "$0/filler"';
    const then = 'rm "$0/room"; cd "$0"; "$@"; cat .mcp.json; ls -A';
    const [file = "", ...args] = [
      ...onSmallDisk(disk, "size=64k"),
      "bash",
      "-c",
      `${fill} 2>/dev/null; ${then}`,
      disk,
    ];
    const words = [process.execPath, program, "init", "claude-code", "--write"];
    const { stdout, stderr } = spawnSync(file, [...args, ...words], { encoding: "utf8" });
    expect(stderr).toMatch(
      new RegExp(`^nacre: ${disk}/\\.mcp\\.json cannot be written and was not changed: ENOSPC.*\\n$`),
    );
    expect(stdout).toBe("{}\n.mcp.json\nfiller\n");
  });

  test("unknown options of the server are refused", async () => {
    for (const odd of [["--polcy", "off"], ["extra"], ["--policy", "none"]]) {
      const { code, stdout, stderr } = await nacre("init", "codex", "--", ...odd);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(odd.at(-1) === "off" ? "--polcy" : odd.at(-1));
    }
  });

  test("comments, order and formatting of a JSON file are kept", async () => {
    pathWithNacre();
    const file = join(dir(), ".vscode/mcp.json");
    mkdirSync(join(dir(), ".vscode"));
    const rest =
      '{\n\t// mine\n\t"inputs": [1, 2, 3], /* kept */\n\t"servers": {\n\t\t"other": {"command": "x"}, // too\n\t},\n}\n';
    writeFileSync(file, rest);
    expect((await nacre("init", "vscode", "--write")).code).toBe(0);
    const after = readFileSync(file, "utf8");
    for (const line of rest.split("\n")) expect(after).toContain(line.replace(/,$/, ""));
    expect(after).toContain('"nacre": {\n\t\t\t"type": "stdio",');
    expect((await nacre("init", "vscode", "--write")).stderr).toContain("nothing was changed");
  });

  test("for a client without a project file, --write changes nothing unless --user is given", async () => {
    const { code, stderr } = await nacre("init", "codex", "--write");
    expect(code).toBe(1);
    expect(stderr).toContain("Nothing was changed: add --user to change it.");
    expect(existsSync(join(dir(), "codex"))).toBe(false);
  });

  test("a file that is invalid or has another structure is not changed", async () => {
    pathWithNacre();
    const file = join(dir(), "opencode.json");
    for (const text of ["{ // mine\n", "[]", '{"mcp": []}']) {
      writeFileSync(file, text);
      const { code, stderr } = await nacre("init", "opencode", "--write");
      expect(code).toBe(1);
      expect(stderr).toMatch(
        new RegExp(`^nacre: ${file} was not changed: .+ and paste its output into the file\\.\\n$`),
      );
      expect(readFileSync(file, "utf8")).toBe(text);
    }
  });

  test("in a TOML file, an older block of nacre is replaced and everything else is kept", async () => {
    pathWithNacre();
    const file = join(dir(), "codex/config.toml");
    mkdirSync(join(dir(), "codex"));
    const rest = 'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "y"\n';
    writeFileSync(file, rest);
    await nacre("init", "codex", "--write", "--user");
    const block = '[mcp_servers.nacre]\ncommand = "nacre"\nargs = ["mcp"]\n';
    expect(readFileSync(file, "utf8")).toBe(`${rest}\n${block}`);
    expect((await nacre("init", "codex", "--write", "--user")).stderr).toContain("nothing was changed");
    const other = '[mcp_servers.other]\ncommand = "y"\n';
    writeFileSync(file, `[mcp_servers.nacre]\ncommand = "old"\n\n${other}`);
    await nacre("init", "codex", "--write", "--user");
    expect(readFileSync(file, "utf8")).toBe(`${block}\n${other}`);
    for (const odd of [
      "[mcp_servers]\nnacre = { command = 'z' }\n",
      '[mcp_servers.nacre]\nenv = { A = "1" }\n',
      '[mcp_servers]\nnacre.command = "z"\n',
      '[mcp_servers]\n"nacre".command = "z"\n',
      "'mcp_servers'.nacre.command = 'z'\n",
      'mcp_servers = { other = { command = "z" } }\n',
    ]) {
      writeFileSync(file, odd);
      expect((await nacre("init", "codex", "--write", "--user")).code).toBe(1);
      expect(readFileSync(file, "utf8")).toBe(odd);
    }
  });

  test("an unknown client is refused with a list of the known clients", async () => {
    const { code, stderr } = await nacre("init", "emacs");
    expect(code).toBe(2);
    expect(stderr).toBe(
      "nacre: There is no client emacs. Choose from: claude-code, codex, gemini, opencode, cursor, vscode.\n",
    );
    expect((await nacre("init", "cursr")).stderr).toContain("Did you mean cursor?");
    expect((await nacre("completion", "tcsh")).stderr).toBe(
      "nacre: shell 'tcsh' is invalid. Allowed choices are bash, zsh, fish.\n",
    );
  });
});

test("the tour runs real commands and leaves nothing running", async () => {
  const { code, stdout, stderr } = await nacre("tour");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("exit code 3");
  expect(stdout).toMatch(/left running: sleep 1000 \(pid \d+\)/);
  expect(stdout).toContain("survivors: none");
  expect(stdout).toMatch(/100MB in \d/);
  expect(stdout).toContain("Command blocked as dangerous");
  expect(existsSync(join(dir(), "state"))).toBe(false);
});

test("a usage error is one line with a suggestion", async () => {
  const usageError = async (...words: string[]) => {
    const { code, stdout, stderr } = await nacre(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    return stderr;
  };
  expect(await usageError("rnu", "x")).toBe("nacre: unknown command 'rnu'. Did you mean run?\n");
  expect(await usageError("run", "--timout", "3", "x")).toBe(
    "nacre: unknown option '--timout'. Did you mean --timeout?\n",
  );
  expect(await usageError("run", "-la", "ls")).toContain("nacre: unknown option '-la'.");
  expect(await usageError("ouptut", "x")).toContain("Did you mean output?");
  expect(await usageError("dance")).toBe("nacre: unknown command 'dance'. See nacre --help.\n");
  expect(await usageError("output")).toBe(
    "nacre: missing required argument 'id'. See nacre output --help.\n",
  );
  expect(await usageError("ps", "x")).toMatch(/^nacre: too many arguments .+\. See nacre ps --help\.\n$/);
  expect(await usageError("run", "--cwd", "", "true")).toContain(
    "The name of the directory must not be empty.",
  );
  expect(await nacre("help", "help")).toMatchObject({ code: 0, stderr: "" });
});

test("every command has help that contains examples and fits the terminal", async () => {
  const { stdout } = await nacre("--help");
  const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? "");
  expect(names).toEqual(
    expect.arrayContaining(["run", "ps", "output", "wait", "kill", "clean", "doctor", "init"]),
  );
  for (const name of names.filter((command) => !["help", "nacre", "source"].includes(command))) {
    const help = await nacreWith({ stdin: "", columns: 120 }, name, "--help");
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Examples:");
    for (const line of help.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  }
});
