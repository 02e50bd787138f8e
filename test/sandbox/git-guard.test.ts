// Commands in real sandboxes try to plant hooks and config in real repositories. Each attempt must succeed
// without a sandbox.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";

const world = useSandboxWorld();
const { home, workspace, outside } = world;
const main = join(outside, "main");
const IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
const git = (cwd: string, ...words: string[]) =>
  execFileSync("git", [...IDENTITY, ...words], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

beforeEach(() => {
  for (const path of [workspace, main, join(outside, "sub")]) rmSync(path, { recursive: true, force: true });
  rmSync(join(home, ".gitconfig"), { force: true });
  mkdirSync(workspace);
});

function put(path: string, text = ""): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function repository(path: string): void {
  execFileSync("git", ["init", "-q", "-b", "main", path]);
  git(path, "commit", "-q", "--allow-empty", "-m", "first");
}

interface Plant {
  readonly what: string;
  readonly before: () => void;
  /** Relative to the workspace. The command writes to it. */
  readonly path: string;
}

const top = () => repository(workspace);
const withWorktree = () => {
  top();
  git(workspace, "worktree", "add", "-q", join(workspace, "tree"));
};
const withSubmodule = () => {
  top();
  repository(join(outside, "sub"));
  git(workspace, "submodule", "--quiet", "add", join(outside, "sub"), "mod");
};
const nested = (path: string) => () => {
  top();
  repository(join(workspace, path));
};
const config = (text: string, path = ".git/config") => {
  const file = join(workspace, path);
  writeFileSync(file, `${existsSync(file) ? readFileSync(file, "utf8") : ""}${text}\n`);
};

const PLANTS: readonly Plant[] = [
  { what: "the commondir of a linked worktree", before: withWorktree, path: ".git/worktrees/tree/commondir" },
  { what: "the gitdir of a linked worktree", before: withWorktree, path: ".git/worktrees/tree/gitdir" },
  {
    what: "a missing config.worktree of a linked worktree",
    before: withWorktree,
    path: ".git/worktrees/tree/config.worktree",
  },
  { what: "the .git file of a linked worktree", before: withWorktree, path: "tree/.git" },
  {
    what: "a missing config.worktree, with the extension on",
    before: () => {
      top();
      git(workspace, "config", "extensions.worktreeConfig", "true");
    },
    path: ".git/config.worktree",
  },
  { what: "a missing config.worktree, with the extension off", before: top, path: ".git/config.worktree" },
  { what: "the config of a repository in a subdirectory", before: nested("sub"), path: "sub/.git/config" },
  {
    what: "a hook of a repository in a subdirectory",
    before: nested("a/b/c"),
    path: "a/b/c/.git/hooks/post-checkout",
  },
  {
    what: "a commondir in a repository in a subdirectory",
    before: nested("sub"),
    path: "sub/.git/commondir",
  },
  {
    what: "the config of a repository in a workspace that is not a repository",
    before: () => repository(join(workspace, "one")),
    path: "one/.git/config",
  },
  {
    what: "the config of a bare repository",
    before: () => execFileSync("git", ["init", "-q", "--bare", join(workspace, "store")]),
    path: "store/config",
  },
  {
    what: "the config of a repository that is a gitlink, deep in a hidden directory",
    before: () => {
      nested(".x/a/b/c/d/e")();
      git(workspace, "add", ".x/a/b/c/d/e");
    },
    path: ".x/a/b/c/d/e/.git/config",
  },
  { what: "the .git file of a submodule", before: withSubmodule, path: "mod/.git" },
  {
    what: "a missing config.worktree of a submodule",
    before: withSubmodule,
    path: ".git/modules/mod/config.worktree",
  },
  {
    what: "a hook of a submodule without a working tree",
    before: () => {
      withSubmodule();
      rmSync(join(workspace, "mod"), { recursive: true });
    },
    path: ".git/modules/mod/hooks/post-checkout",
  },
  {
    what: "a hook in the directory that core.hooksPath names",
    before: () => {
      top();
      git(workspace, "config", "core.hooksPath", ".githooks");
      put(join(workspace, ".githooks/pre-commit"), "#!/bin/sh\n");
    },
    path: ".githooks/pre-commit",
  },
  {
    what: "a hook in a missing directory that core.hooksPath names",
    before: () => {
      top();
      git(workspace, "config", "core.hooksPath", "tools/hooks");
    },
    path: "tools/hooks/pre-commit",
  },
  {
    what: "a hook in the directory that an absolute, quoted core.hooksPath names",
    before: () => {
      top();
      config(`[Core] # of ours\n\thooksPath = "${workspace}/my \\"hooks" ; there`);
      mkdirSync(join(workspace, 'my "hooks'));
    },
    path: 'my "hooks/pre-commit',
  },
  {
    what: "a hook in the directory that core.hooksPath in the user's config names",
    before: () => {
      top();
      put(join(home, ".gitconfig"), "[core]\n\thooksPath = .shared-hooks\n");
    },
    path: ".shared-hooks/pre-commit",
  },
  {
    what: "an included config",
    before: () => {
      top();
      git(workspace, "config", "include.path", "../team.gitconfig");
      put(join(workspace, "team.gitconfig"), "[alias]\n");
    },
    path: "team.gitconfig",
  },
  {
    what: "a missing config that an included config includes",
    before: () => {
      top();
      git(workspace, "config", "include.path", "../team.gitconfig");
      put(join(workspace, "team.gitconfig"), "[include]\n\tpath = more/own.gitconfig\n");
    },
    path: "more/own.gitconfig",
  },
  {
    what: "a config that the user's config includes conditionally",
    before: () => {
      top();
      put(
        join(home, ".gitconfig"),
        `[includeIf "gitdir:${workspace}/"]\n\tpath = ${workspace}/work.gitconfig\n`,
      );
    },
    path: "work.gitconfig",
  },
  {
    what: "a hook in the directory that core.hooksPath in an included config names",
    before: () => {
      top();
      git(workspace, "config", "include.path", "../team.gitconfig");
      put(join(workspace, "team.gitconfig"), "[core]\n\thooksPath = team-hooks\n");
    },
    path: "team-hooks/pre-commit",
  },
];

const plantAt = (path: string) =>
  `mkdir -p '${dirname(path)}' 2>/dev/null; rm -f '${path}' 2>/dev/null; mv '${dirname(path)}' moved-away 2>/dev/null; mkdir -p '${dirname(path)}' 2>/dev/null; echo PLANTED >'${path}'; exit 0`;
const isPlanted = (path: string) => {
  try {
    return readFileSync(join(workspace, path), "utf8").includes("PLANTED");
  } catch {
    return false;
  }
};

describeSandboxed("a command in a sandbox", () => {
  test.each(PLANTS)("cannot write $what", async ({ before, path }) => {
    before();
    await runIn(world.manager({ sandbox: "workspace-write" }), plantAt(path), workspace);
    expect(isPlanted(path)).toBe(false);
    const shell = await runIn(world.manager({ sandbox: "workspace-write" }), "echo x >file", workspace);
    expect(shell.exitCode).toBe(0);
  });

  test("leaves no placeholders in repositories", async () => {
    withWorktree();
    git(workspace, "config", "core.hooksPath", "tools/hooks");
    const before = snapshot(workspace);
    await runIn(world.manager({ sandbox: "workspace-write" }), "true", workspace);
    await eventually(() => expect(snapshot(workspace)).toEqual(before));
  });

  test("gets a report that a hook directory cannot be protected if it is a link", async () => {
    top();
    mkdirSync(join(workspace, "real"));
    symlinkSync("real", join(workspace, "linked"));
    git(workspace, "config", "core.hooksPath", "linked");
    const shell = await runIn(world.manager({ sandbox: "workspace-write" }), "true", workspace);
    expect(shell.confinement?.notEnforced.join()).toContain(
      `${workspace}/linked, which git reads (core.hooksPath): it is a link, which cannot be protected`,
    );
  });

  test("can write to the workspace even if core.hooksPath names it, and gets a report of that", async () => {
    top();
    git(workspace, "config", "core.hooksPath", ".");
    const shell = await runIn(
      world.manager({ sandbox: "workspace-write" }),
      "echo x >y && echo written",
      workspace,
    );
    expect(shell.getAllOutput()).toBe("written\n");
    expect(shell.confinement?.notEnforced.join()).toContain(
      "it contains a directory that commands may write",
    );
  });

  test("can do ordinary work: worktrees, stash, rebase, submodules, clones, a new repository", async () => {
    top();
    repository(join(outside, "sub"));
    git(workspace, "submodule", "--quiet", "add", join(outside, "sub"), "mod");
    git(workspace, "commit", "-qm", "with a submodule");
    const work = [
      "set -e",
      `git() { command git ${IDENTITY.join(" ")} "$@"; }`,
      "echo 1 >a; git add a; git commit -qm a",
      "git worktree add -q tree; (cd tree; echo 2 >b; git add b; git commit -qm b)",
      "git checkout -q -b side; echo 3 >c; git add c; git commit -qm c; git rebase -q tree",
      "echo 4 >>a; git stash -q; git stash pop -q; git commit -qam d",
      "git submodule status | cut -c43-; (cd mod; git commit -q --allow-empty -m inside); git add mod; git commit -qm mod",
      `git clone -q '${join(outside, "sub")}' clone; (cd clone; git commit -q --allow-empty -m there)`,
      "mkdir new; cd new; git init -q; git config user.name b; git commit -q --allow-empty -m begin; cd ..",
      "git worktree remove tree; git gc -q; git fsck --no-progress --no-dangling; git log --format=%s -4",
    ].join("\n");
    const shell = await runIn(world.manager({ sandbox: "workspace-write" }), work, workspace);
    expect(shell.getAllOutput()).toContain("mod (heads/main)\nmod\nd\nc\nb\n");
    expect(shell.exitCode).toBe(0);
  });

  test("can commit in a linked worktree, but cannot redirect the other worktrees of its repository", async () => {
    repository(main);
    git(main, "worktree", "add", "-q", join(outside, "sibling"));
    rmSync(workspace, { recursive: true });
    git(main, "worktree", "add", "-q", workspace);
    const target = join(main, ".git/worktrees/sibling/commondir");
    const command = `git ${IDENTITY.join(" ")} commit -q --allow-empty -m second; echo PLANTED >'${target}'`;
    await runIn(world.manager({ sandbox: "workspace-write" }), command, workspace);
    expect(readFileSync(target, "utf8")).toBe("../..\n");
    expect(git(workspace, "log", "--format=%s")).toBe("second\nfirst\n");
    git(main, "worktree", "remove", "--force", join(outside, "sibling"));
  });
});

describe("a command without a sandbox", () => {
  test.each(PLANTS)("can write $what", async ({ before, path }) => {
    before();
    await runIn(world.manager({ sandbox: "off" }), plantAt(path), workspace);
    expect(isPlanted(path)).toBe(true);
  });
});

function snapshot(directory: string): string[] {
  return (readdirSync(directory, { recursive: true }) as string[]).sort();
}
