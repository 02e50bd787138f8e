// npm run remote [-- ssh docker podman slurm kubernetes] [--long]: tests the links to remote machines with the real
// programs. Installs missing Debian packages; the tests start and stop the daemons. Without names: ssh and docker.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

/** For each link: a program whose presence proves that the packages are installed, and the packages. */
const NEEDS = {
  ssh: ["/usr/sbin/sshd", ["openssh-server", "openssh-client"]],
  docker: ["/usr/sbin/dockerd", ["docker.io", "runc"]],
  podman: ["/usr/bin/podman", ["podman", "runc"]],
  slurm: ["/usr/sbin/slurmctld", ["slurm-wlm", "slurm-client", "munge"]],
  kubernetes: ["/usr/bin/openssl", ["openssl"]],
};

/**
 * For each link: the files with its tests. A file without tests of the wanted links must not run: vitest reports it as a
 * failure.
 */
const FILES = {
  ssh: ["real-links"],
  docker: ["real-links", "fleet", "evaluation"],
  podman: ["real-links"],
  slurm: ["real-links", "fleet"],
  kubernetes: ["kubernetes"],
};

const args = process.argv.slice(2);
const isLong = args.includes("--long");
const named = args.filter((arg) => !arg.startsWith("--"));
const links = named.length > 0 ? named : ["ssh", "docker"];
const unknown = links.find((link) => !Object.hasOwn(NEEDS, link));
if (unknown !== undefined) {
  console.error(`remote: unknown link ${unknown}. Known: ${Object.keys(NEEDS).join(", ")}.`);
  process.exit(2);
}
ensureBuilt();
const missing = [...links.flatMap((link) => (existsSync(NEEDS[link][0]) ? [] : NEEDS[link][1]))];
if (missing.length > 0) {
  // RUNLEVEL=1 keeps the packages from starting their daemons.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const install = (words) => spawnSync("apt-get", words, { env, stdio: ["ignore", 2, 2] }).status === 0;
  const packages = ["install", "-y", "-qq", "--no-install-recommends", ...missing];
  if (!install(["update", "-qq"]) || !install(packages)) {
    console.error(
      `remote: these packages could not be installed: ${missing.join(" ")}. Run this script as root on Debian.`,
    );
    process.exit(1);
  }
}
const { status } = runVitest({
  cwd: root,
  args: [...new Set(links.flatMap((link) => FILES[link]))].map((name) => `test/remote/${name}.live.ts`),
  env: { NACRE_REMOTE_LINKS: links.join(","), ...(isLong ? { NACRE_LONG: "1" } : {}) },
});
process.exit(status);
