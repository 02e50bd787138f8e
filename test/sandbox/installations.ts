// Locations in which nacre can be installed, for tests of the sandbox. The sandbox protects some and refuses
// others.
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { installInProject, installInto, type Person, type Ran, runAs } from "../fixtures/installed.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";

const base = mkdtempSync("/var/tmp/nacre-test-");
chmodSync(base, 0o755);
afterAll(() => removeAfterRun(base));

export interface Installation {
  readonly home: string;
  readonly workspace: string;
  /** The path that starts the program. */
  readonly program: string;
  /** The package's folder. */
  readonly folder: string;
  readonly flags: readonly string[];
}

export interface Setup {
  readonly name: string;
  readonly make: (at: { home: string; workspace: string }) => Omit<Installation, "home" | "workspace">;
}

export const mainOf = (folder: string) => join(folder, "dist/cli/main.js");

export const REFUSED: readonly Setup[] = [
  {
    name: "in the workspace's node_modules",
    make: ({ workspace }) => {
      const folder = installInProject(workspace);
      return { folder, program: mainOf(folder), flags: [] };
    },
  },
  {
    name: "in the npx cache, with ~/.npm writable",
    make: ({ home }) => {
      const folder = installInProject(join(home, ".npm/_npx/0a1b2c3d"));
      return { folder, program: mainOf(folder), flags: ["--writable", "~/.npm"] };
    },
  },
  {
    name: "in a store of links in the workspace's node_modules",
    make: ({ workspace }) => {
      const folder = installInto(join(workspace, "node_modules/.pnpm/nacre@1/node_modules"));
      writeFileSync(join(workspace, "package.json"), "{}");
      symlinkSync(folder, join(workspace, "node_modules/nacre"));
      return { folder, program: mainOf(join(workspace, "node_modules/nacre")), flags: [] };
    },
  },
  {
    name: "as a checkout that is the workspace",
    make: ({ workspace }) => {
      rmSync(workspace, { recursive: true });
      const installed = installInto(join(workspace, "..", "made"));
      cpSync(installed, workspace, { recursive: true });
      return { folder: workspace, program: mainOf(workspace), flags: [] };
    },
  },
  {
    name: "elsewhere, and started by a link in the workspace's node_modules/.bin",
    make: ({ home, workspace }) => {
      const folder = installInto(join(home, "lib/node_modules"));
      mkdirSync(join(workspace, "node_modules/.bin"), { recursive: true });
      writeFileSync(join(workspace, "package.json"), "{}");
      const program = join(workspace, "node_modules/.bin/nacre");
      symlinkSync(mainOf(folder), program);
      return { folder: join(workspace, "node_modules/.bin"), program, flags: [] };
    },
  },
];

export const AS_LIBRARY: Setup = {
  name: "in the workspace's node_modules, with its dependencies",
  make: ({ workspace }) => {
    const folder = installInProject(workspace, { withDependencies: true });
    return { folder, program: mainOf(folder), flags: [] };
  },
};

export const PROTECTED: readonly Setup[] = [
  {
    name: "as a global package in a writable home",
    make: ({ home }) => {
      const folder = installInto(join(home, ".nvm/versions/node/v1/lib/node_modules"));
      return { folder, program: mainOf(folder), flags: ["--writable", "~/.nvm"] };
    },
  },
  {
    name: "in a writable directory, linked into the workspace's node_modules",
    make: ({ home, workspace }) => {
      const folder = installInto(join(home, "src"));
      mkdirSync(join(workspace, "node_modules"));
      symlinkSync(folder, join(workspace, "node_modules/nacre"));
      return { folder, program: mainOf(folder), flags: ["--writable", "~/src"] };
    },
  },
];

let count = 0;

/** A new home and workspace with the package installed, owned by the person. */
export function installationFor({ prefix }: Person, { make }: Setup): Installation {
  const top = join(base, String(count++));
  onTestFinished(() => removeAfterRun(top));
  const [home, workspace] = [join(top, "home"), join(top, "work")];
  for (const dir of [home, workspace]) mkdirSync(dir, { recursive: true });
  const made = make({ home, workspace });
  if (prefix.length > 0) give(top);
  return { home, workspace, ...made };
}

function give(path: string): void {
  runAs({ name: "root", prefix: [] }, ["chown", "-R", "65534:65534", path], { cwd: "/", home: "/" });
}

export function nacre(
  person: Person,
  { home, workspace, program, flags }: Installation,
  words: readonly string[],
): Ran {
  const argv = [process.execPath, program, "run", "--policy", "off", ...flags, ...words];
  return runAs(person, argv, { cwd: workspace, home, env: { NACRE_HOME: join(home, "state") } });
}
