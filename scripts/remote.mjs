// npm run remote [-- ssh docker podman slurm kubernetes] [--long]: the links to remote machines, with the real programs.
// Installs what is missing from Debian; the tests start and end the daemons themselves. Without names: ssh and docker.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

/** By link: the packages it needs, and a program whose presence proves that they are installed. */
const NEEDS = {
  ssh: ["/usr/sbin/sshd", ["openssh-server", "openssh-client"]],
  docker: ["/usr/sbin/dockerd", ["docker.io", "runc"]],
  podman: ["/usr/bin/podman", ["podman", "runc"]],
  slurm: ["/usr/sbin/slurmctld", ["slurm-wlm", "slurm-client", "munge"]],
  kubernetes: ["/usr/bin/openssl", ["openssl"]],
};

/**
 * By link: the files with its tests. A file that tests none of the wanted links has no tests to run, and vitest reports
 * that as a failure.
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
  // RUNLEVEL=1: the packages must not start daemons of their own.
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
