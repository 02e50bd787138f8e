// In a writable home directory, startup files can neither be changed nor created. Each attempt must succeed
// without a sandbox.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeWhere, locate } from "../../src/policy/paths/paths.ts";
import { HOME_PROGRAMS, HOME_STARTUP } from "../../src/support/startup-paths.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";

const world = useSandboxWorld();
const { workspace, outside } = world;
/** One file at or below each listed path. */
const fileAt = ({ path, kind }: (typeof HOME_STARTUP)[number]) =>
  kind === "directory" ? join(path, "planted") : path;
const FILES = [...HOME_STARTUP, ...HOME_PROGRAMS].map(fileAt);
const variables = Object.fromEntries(
  ["HOME", "ZDOTDIR", "XDG_CONFIG_HOME"].map((name) => [name, process.env[name]]),
);

afterEach(() => {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

/** The entries of the home, except nacre's state root: every sandbox creates one there, and it remains. */
function leftIn(home: string): string[] {
  const own = join(home, ".local/state/nacre");
  return readdirSync(home).filter((name) => !(name === ".local" && existsSync(own)));
}

function freshHome(): string {
  const home = mkdtempSync(join(outside, "home-"));
  process.env["HOME"] = home;
  return home;
}

const manager = (home: string, sandbox: "off" | "workspace-write" = "workspace-write", more: string[] = []) =>
  world.manager({
    sandbox,
    stateRoot: mkdtempSync(join(outside, "state-")),
    ...(sandbox === "off" ? {} : { writable: [home, ...more] }),
  });

/** Writes to every path, then moves its directory away and writes again. */
function plantAll(home: string, files: readonly string[]): string {
  const list = join(workspace, "files");
  writeFileSync(list, files.map((file) => `${join(home, file)}\n`).join(""));
  return `while IFS= read -r f; do mkdir -p "\${f%/*}"; rm -f "$f"; echo PLANTED >"$f"; mv "\${f%/*}" "\${f%/*}.moved-$RANDOM" && mkdir -p "\${f%/*}" && echo PLANTED >"$f"; done <'${list}' 2>/dev/null; exit 0`;
}

const planted = (home: string, files: readonly string[]) =>
  files.filter((file) => {
    const path = join(home, file);
    return existsSync(path) && readFileSync(path, "utf8").includes("PLANTED");
  });

test("the policy stops writes to every startup path", () => {
  const where = describeWhere({ home: "/home/dev", cwd: "/home/dev/proj" });
  const classes = HOME_STARTUP.map(fileAt).map(
    (file) => locate(`/home/dev/${file}`, "/home/dev/proj", where).class,
  );
  expect(classes.filter((one) => !["startup", "policy", "secret"].includes(one))).toEqual([]);
});

describeSandboxed("in a sandbox with a writable home", () => {
  test("missing startup files cannot be created, and no placeholder remains", async () => {
    const home = freshHome();
    await runIn(manager(home), plantAll(home, FILES), workspace);
    expect(planted(home, FILES)).toEqual([]);
    await eventually(() => expect(leftIn(home)).toEqual([]));
  });

  test("files from which debuggers, desktops, terminals and Python run code cannot be created", async () => {
    const home = freshHome();
    const files = [
      ...[".config/gdb/gdbinit", ".config/gdb/gdbearlyinit", ".shinit", ".docker/cli-plugins/docker-x"],
      ...[".config/sway/config", ".config/i3/config", ".config/hypr/hyprland.conf", ".xmonad/xmonad.hs"],
      ...[".config/powershell/profile.ps1", ".config/powershell/Microsoft.PowerShell_profile.ps1"],
      ...[".config/user-dirs.dirs", ".config/kitty/kitty.conf", ".config/alacritty/alacritty.toml"],
      ...[".local/lib/python3.12/site-packages/usercustomize.py", ".local/lib/python3.9/site-packages/a.pth"],
      ...[".ipython/profile_default/startup/a.py", ".config/mise/config.toml"],
    ];
    await runIn(manager(home), plantAll(home, files), workspace);
    expect(planted(home, files)).toEqual([]);
    await eventually(() => expect(leftIn(home)).toEqual([]));
  });

  test("startup files that exist cannot be changed, removed or moved", async () => {
    const home = freshHome();
    for (const file of FILES) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      writeFileSync(join(home, file), "MINE\n");
    }
    await runIn(manager(home), plantAll(home, FILES), workspace);
    expect(planted(home, FILES)).toEqual([]);
    expect(FILES.filter((file) => readFileSync(join(home, file), "utf8") !== "MINE\n")).toEqual([]);
  });

  test("without a sandbox, all startup files can be created", async () => {
    const home = freshHome();
    const command = plantAll(home, FILES).replace(/mv .*? && mkdir/, "true && mkdir");
    await runIn(manager(home, "off"), command, workspace);
    expect(planted(home, FILES)).toEqual(FILES);
  });

  test.each([
    ["ZDOTDIR", "moved/.zshrc"],
    ["XDG_CONFIG_HOME", "moved/fish/config.fish"],
    ["XDG_CONFIG_HOME", "moved/systemd/user/planted.service"],
  ])("startup files cannot be created in the location that %s sets: %s", async (name, file) => {
    const home = freshHome();
    process.env[name] = join(home, "moved");
    await runIn(manager(home), plantAll(home, [file]), workspace);
    expect(planted(home, [file])).toEqual([]);
    await runIn(manager(home, "off"), plantAll(home, [file]), workspace);
    expect(planted(home, [file])).toEqual([file]);
  });

  test("the rest of the home directory can be used", async () => {
    const home = freshHome();
    const command =
      "echo 1 >~/file && mkdir -p ~/.config/app ~/.cache/x ~/.claude/projects && echo 2 >~/.config/app/rc && echo 3 >~/.cargo/registry-token.txt && cat ~/file ~/.config/app/rc";
    const shell = await runIn(manager(home), command, workspace);
    expect(shell.getAllOutput()).toBe("1\n2\n");
    await eventually(() =>
      expect(leftIn(home).sort()).toEqual([".cache", ".cargo", ".claude", ".config", "file"]),
    );
  });

  test("two concurrent sandboxes do not remove each other's placeholders", async () => {
    const home = freshHome();
    const both = manager(home);
    const long = await both.createShell({
      command:
        "echo ready; until [[ -e go ]]; do read -t 0.05 <> <(:); done; echo PLANTED >~/.zshenv; exit 0",
      workingDir: workspace,
    });
    await long.waitFor({ pattern: /ready/, timeoutMs: 20_000 });
    await runIn(both, "echo PLANTED >~/.zshenv; touch go", workspace);
    await long.wait(20_000);
    expect(planted(home, [".zshenv"])).toEqual([]);
    await eventually(() => expect(leftIn(home)).toEqual([]));
  });

  test("a startup directory that the user names as writable is writable", async () => {
    const home = freshHome();
    mkdirSync(join(home, ".local/bin"), { recursive: true });
    const shell = await runIn(
      manager(home, "workspace-write", [join(home, ".local/bin")]),
      "echo x >~/.local/bin/tool && echo made; echo x >~/.bashrc",
      workspace,
    );
    expect(shell.getAllOutput()).toMatch(/^made\n/);
    await eventually(() => expect(existsSync(join(home, ".bashrc"))).toBe(false));
  });

  test("a startup file that is a link is reported as unprotected", async () => {
    const home = freshHome();
    mkdirSync(join(home, "dotfiles"));
    writeFileSync(join(home, "dotfiles/bashrc"), "MINE\n");
    symlinkSync("dotfiles/bashrc", join(home, ".bashrc"));
    const shell = await runIn(manager(home), "echo PLANTED >~/dotfiles/bashrc; exit 0", workspace);
    expect(readFileSync(join(home, "dotfiles/bashrc"), "utf8")).toBe("MINE\n");
    expect(shell.confinement?.notEnforced.join()).toContain(
      `${home}/.bashrc, which runs or is read when a program starts`,
    );
  });
});
