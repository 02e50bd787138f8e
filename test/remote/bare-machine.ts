// Remote machines with almost nothing installed: separate file systems in bubblewrap, reached over a command link.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The programs that the bootstrap and the tests run on the machine. */
const PROGRAMS = [
  ...[
    "sh",
    "bash",
    "tar",
    "gzip",
    "id",
    "uname",
    "mkdir",
    "rmdir",
    "chmod",
    "df",
    "ls",
    "stat",
    "rm",
    "mv",
    "cat",
  ],
  ...["readlink", "env", "ln", "mkfifo", "sleep", "ps", "grep"],
];

const BUSYBOX = "/bin/busybox";
const STATIC_BASH = "/usr/bin/bash-static";
const MUSL = "/lib/ld-musl-x86_64.so.1";

/** Why no musl machine is available; undefined if one is. */
export const noMusl: string | undefined = [BUSYBOX, STATIC_BASH, MUSL].every((path) => existsSync(path))
  ? undefined
  : "needs the packages busybox-static, bash-static and musl";

export interface BareMachine {
  readonly url: string;
  readonly root: string;
}

/** Creates a Debian machine without Node: only PROGRAMS and the libraries that they need. */
export function glibcMachine(dir: string, prefix: readonly string[] = []): BareMachine {
  const root = join(dir, "root");
  const copy = (path: string) => {
    if (existsSync(join(root, path))) return;
    mkdirSync(join(root, dirname(path)), { recursive: true });
    cpSync(realpathSync(path), join(root, path));
  };
  for (const name of PROGRAMS) {
    const path = `/usr/bin/${name}`;
    copy(path);
    const libraries = execFileSync("ldd", [realpathSync(path)], { encoding: "utf8" });
    for (const [library] of libraries.matchAll(/\/\S+\.so\S*/g)) copy(library);
  }
  return machine(dir, prefix);
}

/** Creates a machine like Alpine: static programs, and musl for other programs. */
export function muslMachine(dir: string): BareMachine {
  const root = join(dir, "root");
  for (const name of ["usr/bin", "lib"]) mkdirSync(join(root, name), { recursive: true });
  cpSync(BUSYBOX, join(root, "usr/bin/busybox"));
  for (const name of PROGRAMS) if (name !== "bash") symlinkSync("busybox", join(root, "usr/bin", name));
  cpSync(STATIC_BASH, join(root, "usr/bin/bash"));
  cpSync(realpathSync(MUSL), join(root, MUSL));
  return machine(dir, []);
}

/** Adds the libraries that Node needs, except those with `except` in their path. */
export function addLibraries({ root }: BareMachine, except?: string): void {
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  for (const [path] of libraries.matchAll(/\/\S+\.so\S*/g)) {
    if (except !== undefined && path.includes(except)) continue;
    mkdirSync(join(root, dirname(path)), { recursive: true });
    cpSync(realpathSync(path), join(root, path));
  }
}

function machine(dir: string, prefix: readonly string[]): BareMachine {
  const root = join(dir, "root");
  const client = join(dir, "client.sh");
  for (const name of ["home", "tmp", "var/tmp", "run"]) mkdirSync(join(root, name), { recursive: true });
  if (!existsSync(join(root, "bin"))) symlinkSync("usr/bin", join(root, "bin"));
  const namespaces = ["--unshare-user", "--unshare-pid", "--die-with-parent"];
  // /dev/shm is read-only: otherwise nacre could install every build there.
  const mounts = [
    "--bind",
    root,
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--ro-bind",
    join(root, "run"),
    "/dev/shm",
  ];
  const environment = [
    "--clearenv",
    "--setenv",
    "PATH",
    "/usr/bin",
    "--setenv",
    "HOME",
    "/home",
    "--chdir",
    "/home",
  ];
  const argv = [...prefix, "bwrap", ...namespaces, ...mounts, ...environment];
  writeFileSync(client, `#!/bin/sh\nexec ${argv.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  chmodSync(client, 0o755);
  return { url: `command:${JSON.stringify([client])}`, root };
}
