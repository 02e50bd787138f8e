// `echo hi` in a session on a remote machine over one open link, compared with one client process per command. ssh,
// docker and Kubernetes run on this machine, so the network takes no time. Links without an installed server are
// skipped.
// `node bench/remote.mjs NAME...` measures only these links.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolkit } from "nacre";
import { median, sleep, spread, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { startPod } from "./shared/kubernetes-pod.mjs";
import { table, target } from "./shared/report.mjs";

const OPEN_ROUNDS = amount(300, 5);
const SINGLE_ROUNDS = amount(30, 2);
const dir = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const bin = join(dir, "bin");
mkdirSync(bin);
process.env.PATH = `${bin}:${process.env.PATH}:/usr/sbin`;

const named = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const rows = [];
const ratios = [];
for (const [name, start, atLeast] of [
  ["ssh", startSshd, 60],
  ["docker", startDocker, 20],
  ["kubernetes", () => startPod(dir), 30],
]) {
  if (named.length > 0 && !named.includes(name)) continue;
  const remote = await start();
  if (!remote) {
    rows.push([name, "not installed", "", ""]);
    continue;
  }
  try {
    const { open, single } = await measure(remote);
    const ratio = median(single) / median(open);
    rows.push([name, `${ratio.toFixed(1)}x`, spread(open), spread(single)]);
    ratios.push([name, ratio, atLeast]);
  } finally {
    await remote.end();
  }
}
table(
  "`echo hi` on a remote machine",
  ["link", "speedup", "open link, ms", "one client per command, ms"],
  rows,
);
for (const [name, ratio, atLeast] of ratios)
  target(`time of one ${name} process per command, relative to an open link`, ratio, { atLeast }, "x");
rmSync(dir, { recursive: true, force: true });

async function measure({ url, argv }) {
  const kit = await createToolkit({ remote: url });
  const session = kit.session("bench");
  await session.run("true");
  const open = [];
  for (let round = 0; round < OPEN_ROUNDS; round++) open.push(await timed(() => session.run("echo hi")));
  const single = [];
  for (let round = 0; round < SINGLE_ROUNDS; round++)
    single.push(await timed(() => run([...argv, "echo", "hi"])));
  await kit.dispose();
  return { open, single };
}

function run([program, ...args]) {
  return once(spawn(program, args, { stdio: "ignore" }), "exit");
}

function wrap(name, script) {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

async function until(program, args) {
  for (let tries = 0; tries < 100; tries++) {
    const [code] = await run([program, ...args]);
    if (code === 0) return;
    await sleep(200);
  }
  throw new Error(`${program} ${args.join(" ")} does not work`);
}

async function endOf(child) {
  child.kill("SIGTERM");
  await once(child, "exit");
}

async function startSshd() {
  if (!existsSync("/usr/sbin/sshd")) return undefined;
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  if (process.getuid() === 0) mkdirSync("/run/sshd", { recursive: true });
  for (const name of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, name)]);
  const [type, key] = readFileSync(join(dir, "host.pub"), "utf8").split(" ");
  writeFileSync(join(dir, "known_hosts"), `[127.0.0.1]:${port} ${type} ${key}\n`);
  const lines = [
    ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${dir}/host`, "UsePAM no", "StrictModes no"],
    ...[`AuthorizedKeysFile ${dir}/user.pub`, "PasswordAuthentication no", "PermitRootLogin yes"],
    ...[`PidFile ${dir}/sshd.pid`, `SetEnv NACRE_HOME=${dir}/state XDG_CACHE_HOME=${dir}/cache`],
  ];
  writeFileSync(join(dir, "sshd_config"), lines.join("\n"));
  const options = `-p ${port} -i ${dir}/user -o IdentitiesOnly=yes -o UserKnownHostsFile=${dir}/known_hosts -o LogLevel=ERROR`;
  wrap("ssh", `exec /usr/bin/ssh ${options} "$@"`);
  const sshd = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", join(dir, "sshd_config")], { stdio: "ignore" });
  await until("ssh", ["-o", "BatchMode=yes", "127.0.0.1", "true"]);
  return { url: "ssh://127.0.0.1", argv: ["ssh", "127.0.0.1"], end: () => endOf(sshd) };
}

/** The container uses the programs of this machine, mounted read-only. */
async function startDocker() {
  if (!existsSync("/usr/sbin/dockerd")) return undefined;
  const socket = `unix://${dir}/d.sock`;
  const dockerd = spawn(
    "/usr/sbin/dockerd",
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
      ...["--iptables=false", "--ip6tables=false", "--bridge=none"],
    ],
    { stdio: "ignore" },
  );
  wrap("docker", `exec /usr/bin/docker --host ${socket} "$@"`);
  await until("docker", ["info"]);
  execFileSync(
    "bash",
    [
      "-c",
      `mkdir -p ${dir}/root/{usr/bin,usr/sbin,usr/lib,usr/lib64,etc,tmp,root,proc,dev,sys,run}; for x in bin sbin lib lib64; do ln -s usr/$x ${dir}/root/$x; done; tar -C ${dir}/root -c . | docker import - bench:1`,
    ],
    { stdio: "ignore" },
  );
  const mounts = ["/usr/bin", "/usr/lib", "/usr/lib64"].flatMap((path) => ["--volume", `${path}:${path}:ro`]);
  execFileSync(
    "docker",
    ["run", "-d", "--init", "--network", "none", ...mounts, "--name", "box", "bench:1", "sleep", "infinity"],
    {
      stdio: "ignore",
    },
  );
  return {
    url: "docker://box",
    argv: ["docker", "exec", "box"],
    end: async () => {
      execFileSync("docker", ["rm", "-f", "box"], { stdio: "ignore" });
      await endOf(dockerd);
    },
  };
}
