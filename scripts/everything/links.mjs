// The remote ends of the soak test, all on this machine: a command link, and ssh to a private sshd if sshd is
// installed. The client program of each link writes its identity (PID and start time) to a file, so that the test can
// cut the link. The lock of each daemon contains the identity of the daemon.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startTimeOf } from "./census.mjs";

const SSHD = "/usr/sbin/sshd";
const SSHD_MAX_TRIES = 50;

/** `dir` contains links (identities), state (the daemon's state root) and bin (for the PATH of agents). */
class RemoteEnd {
  url;
  #dir;
  #server;

  constructor(dir, url, server) {
    this.#dir = dir;
    this.url = url;
    this.#server = server;
  }

  links() {
    return readFileSync(join(this.#dir, "links"), "utf8").split("\n").flatMap(livePid);
  }

  daemons() {
    const folder = join(this.#dir, "state/serve");
    const locks = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".lock")) : [];
    return locks.flatMap((name) => {
      try {
        return livePid(readlinkSync(join(folder, name)));
      } catch {
        // The daemon has exited in the meantime.
        return [];
      }
    });
  }

  async end() {
    for (const pid of this.daemons()) process.kill(pid, "SIGTERM");
    if (this.#server === undefined || this.#server.exitCode !== null) return;
    this.#server.kill();
    await once(this.#server, "exit");
  }
}

export function commandEnd(dir) {
  prepare(dir);
  const client = script(
    join(dir, "client.sh"),
    `dir=$1; shift
${recordIdentity('"$dir/links"')}
cd "$dir/work"
exec env -i PATH="$PATH" HOME="$dir/home" NACRE_HOME="$dir/state" "$@"`,
  );
  return new RemoteEnd(dir, `command:${JSON.stringify([client, dir])}`);
}

/** Returns undefined if sshd is missing or this user cannot start it. */
export async function sshEnd(dir, bin) {
  if (!existsSync(SSHD) || process.getuid() !== 0) return undefined;
  prepare(dir);
  mkdirSync("/run/sshd", { recursive: true });
  const port = await freePort();
  for (const name of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, name)]);
  const server = [
    ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${dir}/host`, "UsePAM no", "StrictModes no"],
    ...[
      `AuthorizedKeysFile ${dir}/user.pub`,
      "PasswordAuthentication no",
      "PermitRootLogin yes",
      "MaxStartups 100",
    ],
    ...[`PidFile ${dir}/sshd.pid`, `SetEnv NACRE_HOME=${dir}/state XDG_CACHE_HOME=${dir}/cache`],
  ];
  writeFileSync(join(dir, "sshd_config"), server.join("\n"));
  const hostKey = readFileSync(join(dir, "host.pub"), "utf8").split(" ").slice(0, 2).join(" ");
  writeFileSync(join(dir, "known_hosts"), `[127.0.0.1]:${port} ${hostKey}\n`);
  const client = [
    ...["Host soak", "HostName 127.0.0.1", `Port ${port}`, "IdentitiesOnly yes", `IdentityFile ${dir}/user`],
    ...[`UserKnownHostsFile ${dir}/known_hosts`, "GlobalKnownHostsFile /dev/null", "LogLevel ERROR"],
  ];
  writeFileSync(join(dir, "ssh_config"), client.join("\n"));
  script(
    join(bin, "ssh"),
    `${recordIdentity(`"${dir}/links"`)}\nexec /usr/bin/ssh -F ${dir}/ssh_config "$@"`,
  );
  const sshd = spawn(SSHD, ["-D", "-e", "-f", join(dir, "sshd_config")], { stdio: "ignore" });
  try {
    await reachable(join(bin, "ssh"));
  } catch (error) {
    sshd.kill();
    throw error;
  }
  return new RemoteEnd(dir, "ssh://soak", sshd);
}

/** The PID in `PID-START`, if that process is alive. A PID alone proves nothing: the kernel reuses it within minutes. */
function livePid(text) {
  const [pid, startTime] = text.split("-");
  return startTime !== undefined && startTimeOf(pid) === startTime ? [Number(pid)] : [];
}

function prepare(dir) {
  for (const name of ["work", "home"]) mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, "links"), "");
}

/** The bash code that appends the identity of its process to a file. exec does not change this identity. */
function recordIdentity(file) {
  return `read -ra stat </proc/$$/stat; echo "$$-\${stat[21]}" >>${file}`;
}

function script(path, body) {
  writeFileSync(path, `#!/bin/bash\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function reachable(ssh) {
  for (let tries = 1; ; tries++) {
    try {
      execFileSync(ssh, ["-o", "BatchMode=yes", "soak", "true"], { stdio: "ignore" });
      return;
    } catch (error) {
      if (tries === SSHD_MAX_TRIES) throw error;
      await sleep(200);
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}
