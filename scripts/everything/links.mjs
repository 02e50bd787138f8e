// The remote ends of the soak, on this machine: a command link, and ssh to an sshd of its own if there is one. Their client programs note
// their PIDs, so that the soak can cut a link; the lock of each daemon names its PID.
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
import { commandOf, environmentOf } from "./census.mjs";

const SSHD = "/usr/sbin/sshd";
const SSHD_MAX_TRIES = 50;

/** Below `dir`: links (PIDs), state (the state root of the daemon), bin (for the PATH of agents). */
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
    const noted = readFileSync(join(this.#dir, "links"), "utf8").trim().split("\n").map(Number);
    return noted.filter((pid) => pid > 0 && this.#isOurs(pid));
  }

  daemons() {
    const folder = join(this.#dir, "state/serve");
    const locks = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".lock")) : [];
    return locks.flatMap((name) => {
      try {
        const pid = Number(readlinkSync(join(folder, name)).split("-")[0]);
        return this.#isOurs(pid) ? [pid] : [];
      } catch {
        // The daemon ended in the meantime.
        return [];
      }
    });
  }

  /** By its command line or its environment: the PID may belong to another process by now. */
  #isOurs(pid) {
    return [commandOf(pid), environmentOf(pid)].some((text) => text.includes(this.#dir));
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
echo $$ >>"$dir/links"
cd "$dir/work"
exec env -i PATH="$PATH" HOME="$dir/home" NACRE_HOME="$dir/state" "$@"`,
  );
  return new RemoteEnd(dir, `command:${JSON.stringify([client, dir])}`);
}

/** Undefined without sshd, or for a user that cannot start one. */
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
  script(join(bin, "ssh"), `echo $$ >>"${dir}/links"\nexec /usr/bin/ssh -F ${dir}/ssh_config "$@"`);
  const sshd = spawn(SSHD, ["-D", "-e", "-f", join(dir, "sshd_config")], { stdio: "ignore" });
  await reachable(join(bin, "ssh"));
  return new RemoteEnd(dir, "ssh://soak", sshd);
}

function prepare(dir) {
  for (const name of ["work", "home"]) mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, "links"), "");
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
