// Starts and ends the real server programs of the links, each in a separate directory. `npm run remote` installs them.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { eventually } from "../fixtures/eventually.ts";
import { textOf } from "../fixtures/processes.ts";
import type { ContractPlace } from "./contract.ts";
import { linkClients } from "./link-clients.ts";
import { endDaemons } from "./remote-place.ts";
import { SilentProxy } from "./silent-proxy.ts";

export interface RealPlace extends ContractPlace {
  end(): Promise<void>;
}

/** Puts a program with this name first on PATH, as a user would configure it. */
function wrap(dir: string, name: string, script: string): void {
  const bin = join(dir, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
  if (!process.env["PATH"]?.startsWith(`${bin}:`)) process.env["PATH"] = `${bin}:${process.env["PATH"]}`;
}

/** Signals the client programs with this name. Throws if none is running, because the test would cut nothing. */
export function cutChildren(name: string, signal: NodeJS.Signals = "SIGKILL"): void {
  const pids = linkClients(name);
  if (pids.length === 0) throw new Error(`no ${name} process is running that the test could cut`);
  for (const pid of pids) process.kill(pid, signal);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

export interface SshPlace extends RealPlace {
  /** Ends the server with all its connections, and starts it again. */
  restart(): Promise<void>;
  readonly port: number;
  readonly config: string;
}

export async function startSshd(dir: string): Promise<SshPlace> {
  const port = await freePort();
  const proxy = await SilentProxy.listen("127.0.0.1", { host: "127.0.0.1", port });
  mkdirSync("/run/sshd", { recursive: true });
  for (const name of ["host", "user", "stranger"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, name)]);
  execFileSync("cp", [join(dir, "user.pub"), join(dir, "authorized_keys")]);
  const hostKey = textOf(join(dir, "host.pub")).split(" ").slice(0, 2).join(" ");
  const known = [port, proxy.port].map((one) => `[127.0.0.1]:${one} ${hostKey}\n`);
  writeFileSync(join(dir, "known_hosts"), known.join(""));
  writeFileSync(
    join(dir, "sshd_config"),
    [
      ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${dir}/host`, "UsePAM no", "StrictModes no"],
      ...[`AuthorizedKeysFile ${dir}/authorized_keys`, "PasswordAuthentication no", "PermitRootLogin yes"],
      ...[`PidFile ${dir}/sshd.pid`, `SetEnv NACRE_HOME=${dir}/state XDG_CACHE_HOME=${dir}/cache`],
    ].join("\n"),
  );
  const config = join(dir, "ssh_config");
  const alias = (name: string, key: string, known: string, at = port) =>
    `Host ${name}\n HostName 127.0.0.1\n Port ${at}\n IdentitiesOnly yes\n IdentityFile ${join(dir, key)}\n UserKnownHostsFile ${join(dir, known)}\n GlobalKnownHostsFile /dev/null\n LogLevel ERROR\n`;
  writeFileSync(
    config,
    [
      alias("here", "user", "known_hosts", proxy.port),
      alias("direct", "user", "known_hosts"),
      alias("unknown-key", "user", "nothing"),
      alias("wrong-key", "stranger", "known_hosts"),
    ].join(""),
  );
  wrap(dir, "ssh", `exec /usr/bin/ssh -F ${config} "$@"`);
  const start = () =>
    spawn("/usr/sbin/sshd", ["-D", "-e", "-f", join(dir, "sshd_config")], { stdio: "ignore" });
  let sshd = start();
  await eventually(() => execFileSync("ssh", ["-o", "BatchMode=yes", "direct", "true"], { stdio: "ignore" }));
  return {
    url: "ssh://here",
    port,
    config,
    cut: () => cutChildren("ssh"),
    otherCuts: { stop: () => cutChildren("ssh", "SIGSTOP"), "half-open": () => proxy.hush() },
    restart: async () => {
      await end(sshd);
      proxy.drop();
      sshd = start();
    },
    end: async () => {
      await proxy.end();
      await end(sshd);
      await endDaemons(join(dir, "state"));
    },
  };
}

/** Packages of a bare Debian image, and openssl and ps for the tests. */
const IMAGE_PACKAGES = [
  ...[
    "bash",
    "coreutils",
    "dash",
    "tar",
    "gzip",
    "sed",
    "grep",
    "findutils",
    "util-linux",
    "procps",
    "openssl",
  ],
  ...["libc6", "libc-bin", "libgcc-s1", "libstdc++6", "libtinfo6", "libselinux1", "libpcre2-8-0", "libacl1"],
  ...["libattr1", "libgmp10", "libproc2-0", "libssl3", "libsystemd0", "liblzma5", "libzstd1", "liblz4-1"],
  ...["libcap2", "libgcrypt20", "libgpg-error0", "libsmartcols1", "libmount1", "libblkid1", "libuuid1"],
];

/** The files of installed packages as a tar archive. This is faster than downloading an image with the same files. */
export function debianRootfs(file: string): void {
  const script = `set -e
d=$(mktemp -d); mkdir -p "$d"/{usr/bin,usr/sbin,usr/lib,usr/lib64,tmp,var/tmp,root,proc,dev,sys,etc,run}; chmod 1777 "$d/tmp" "$d/var/tmp"
for x in bin sbin lib lib64; do ln -s "usr/$x" "$d/$x"; done
echo 'root:x:0:0:root:/root:/bin/bash' >"$d/etc/passwd"
dpkg -L ${IMAGE_PACKAGES.join(" ")} 2>/dev/null | grep -Ev '^/usr/share/(doc|man|locale|info|lintian|bash-completion)' | sort -u |
  while IFS= read -r f; do [ -d "$f" ] || echo "\${f#/}"; done >"$d.list"
tar -C / --ignore-failed-read -cf - -T "$d.list" 2>/dev/null | tar -C "$d" -xf - --keep-directory-symlink
tar -C "$d" -cf ${JSON.stringify(file)} .; rm -rf "$d" "$d.list"`;
  execFileSync("bash", ["-c", script], { stdio: ["ignore", "ignore", "inherit"] });
}

export interface ContainerPlace extends RealPlace {
  /** Runs the engine's own program. */
  engine(...args: readonly string[]): string;
}

export async function startDocker(dir: string, rootfs: string): Promise<ContainerPlace> {
  const socket = `unix://${dir}/d.sock`;
  const dockerd = spawn(
    "dockerd",
    [
      ...[
        "--data-root",
        `${dir}/data`,
        "--exec-root",
        `${dir}/exec`,
        "--host",
        socket,
        "--pidfile",
        `${dir}/pid`,
      ],
      ...["--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=overlay2"],
    ],
    { stdio: "ignore", env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` } },
  );
  // nacre's own connections go through the proxy.
  const proxy = await SilentProxy.listen(join(dir, "proxy.sock"), { path: join(dir, "d.sock") });
  const direct = `[ "$1" = exec ] && [ "$2" = -i ] && exec /usr/bin/docker --host unix://${dir}/proxy.sock "$@"`;
  wrap(dir, "docker", `${direct}\nexec /usr/bin/docker --host ${socket} "$@"`);
  const engine = (...args: readonly string[]) =>
    execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  await eventually(() => engine("info"));
  engine("import", rootfs, "nacre-test:1");
  engine("run", "-d", "--init", "--network", "none", "--name", "box", "nacre-test:1", "sleep", "infinity");
  return {
    url: "docker://box",
    engine,
    cut: () => cutChildren("docker"),
    otherCuts: { stop: () => cutChildren("docker", "SIGSTOP"), "half-open": () => proxy.hush() },
    end: async () => {
      await proxy.end();
      for (const id of engine("ps", "-aq")
        .split("\n")
        .filter((line) => line !== ""))
        engine("rm", "-f", id);
      await end(dockerd);
    },
  };
}

/** Limits that a user without CAP_SYS_RESOURCE can set. */
export const PODMAN_LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"];

/** A first process that reaps orphans, for an engine without an init program. */
const REAPER = ["bash", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"];

export async function startPodman(dir: string, rootfs: string): Promise<ContainerPlace> {
  const flags = `--root ${dir}/root --runroot ${dir}/run --cgroup-manager=cgroupfs --events-backend=file --runtime runc`;
  wrap(dir, "podman", `exec /usr/bin/podman ${flags} "$@"`);
  const engine = (...args: readonly string[]) =>
    execFileSync("podman", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  engine("import", "-q", rootfs, "nacre-test:1");
  engine("run", "-d", ...PODMAN_LIMITS, "--network", "none", "--name", "box", "nacre-test:1", ...REAPER);
  return {
    url: "podman://box",
    engine,
    cut: () => cutChildren("podman"),
    end: async () => void engine("rm", "-f", "-t", "0", "box"),
  };
}

/** One node of Slurm on this machine: munged, slurmctld and slurmd with a separate configuration. */
export async function startSlurm(dir: string): Promise<RealPlace> {
  const [control = 0, daemon = 0] = [await freePort(), await freePort()];
  const host = execFileSync("hostname", ["-s"], { encoding: "utf8" }).trim();
  execFileSync("dd", ["if=/dev/urandom", `of=${dir}/munge.key`, "bs=1", "count=1024"], { stdio: "ignore" });
  chmodSync(join(dir, "munge.key"), 0o400);
  for (const name of ["spool", "state"]) mkdirSync(join(dir, name));
  chmodSync(dir, 0o755);
  const conf = join(dir, "slurm.conf");
  writeFileSync(
    conf,
    [
      ...[
        "ClusterName=here",
        `SlurmctldHost=${host}(127.0.0.1)`,
        `SlurmctldPort=${control}`,
        `SlurmdPort=${daemon}`,
      ],
      ...[
        "SlurmUser=root",
        "AuthType=auth/munge",
        `AuthInfo=socket=${dir}/munge.sock`,
        "CredType=cred/munge",
      ],
      ...[
        `StateSaveLocation=${dir}/state`,
        `SlurmdSpoolDir=${dir}/spool`,
        `SlurmctldPidFile=${dir}/ctld.pid`,
      ],
      ...[`SlurmdPidFile=${dir}/d.pid`, `SlurmctldLogFile=${dir}/ctld.log`, `SlurmdLogFile=${dir}/d.log`],
      ...["ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "ReturnToService=2", "KillWait=2"],
      ...[
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "SchedulerParameters=sched_interval=1",
      ],
      ...[
        `NodeName=${host} NodeAddr=127.0.0.1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1`,
      ],
      ...[
        "SlurmdParameters=config_overrides",
        `PartitionName=all Nodes=${host} Default=YES State=UP MaxTime=INFINITE`,
      ],
    ].join("\n"),
  );
  const env = { ...process.env, SLURM_CONF: conf };
  process.env["SLURM_CONF"] = conf;
  const start = (program: string, args: readonly string[]) => spawn(program, args, { env, stdio: "ignore" });
  const munged = start("/usr/sbin/munged", [
    ...["--foreground", "--force", `--key-file=${dir}/munge.key`, `--socket=${dir}/munge.sock`],
    ...[`--pid-file=${dir}/munge.pid`, `--log-file=${dir}/munge.log`, `--seed-file=${dir}/munge.seed`],
  ]);
  await eventually(() => {
    if (!existsSync(join(dir, "munge.sock"))) throw new Error("munged does not listen yet");
  });
  const controller = start("/usr/sbin/slurmctld", ["-D", "-f", conf]);
  const node = start("/usr/sbin/slurmd", ["-D", "-f", conf, "-N", host]);
  await eventually(() => {
    if (!execFileSync("sinfo", ["-h", "-o", "%T"], { encoding: "utf8", env }).includes("idle"))
      throw new Error("the node is not idle yet");
  });
  return {
    url: "",
    cut: () => cutChildren("srun"),
    end: async () => {
      execFileSync("scancel", ["--me"], { env, stdio: "ignore" });
      for (const child of [node, controller, munged]) await end(child);
    },
  };
}
