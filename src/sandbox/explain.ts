// Why a sandbox cannot be had here, and what to do about it: from what the system says of itself, and what
// bubblewrap said.
import { existsSync, readFileSync } from "node:fs";

export interface SandboxRefusal {
  readonly ok: false;
  readonly why: string;
  readonly fix: string;
}

/** What the system tells. */
export interface SystemFacts {
  readonly platform: string;
  readonly kernel: string;
  readonly isRoot: boolean;
  readonly isContainer: boolean;
  /** Contents of files below /proc/sys, where they exist. */
  readonly apparmorRestricts: string | undefined;
  readonly userNamespacesAllowed: string | undefined;
  readonly userNamespacesMax: string | undefined;
}

const IN_DOCKER =
  "In Docker, start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined (or give it --privileged), or run with the sandbox off: the container confines already.";

export function explainMissing(facts: SystemFacts = systemFacts()): SandboxRefusal {
  if (facts.platform !== "linux") {
    return no(
      "bubblewrap, which the sandbox needs, exists for Linux only",
      "Use Linux or WSL 2, or set the sandbox to off.",
    );
  }
  return no(
    "bubblewrap (bwrap) is not installed, or only inside a directory that commands can write to",
    "Install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine).",
  );
}

/** bwrap ended with this code and these words. */
export function explainFailure(
  code: number | null,
  words: string,
  facts: SystemFacts = systemFacts(),
): SandboxRefusal {
  const said = words === "" ? `bwrap ended with code ${code}` : words;
  if (/Unknown option/i.test(words)) {
    return no(`bubblewrap is too old (${said})`, "Install bubblewrap 0.8.0 or later.");
  }
  if (/microsoft/i.test(facts.kernel) && !/WSL2|microsoft-standard/i.test(facts.kernel)) {
    return no(`WSL 1 has no namespaces (${said})`, "Convert the distribution: wsl --set-version <name> 2.");
  }
  if (facts.isContainer) {
    return no(`this container does not allow what a sandbox needs (${said})`, IN_DOCKER);
  }
  if (facts.apparmorRestricts === "1" && !facts.isRoot) {
    return no(
      `AppArmor keeps ordinary users from making namespaces, as on Ubuntu 23.10 and later (${said})`,
      "Allow it for bwrap with an AppArmor profile (Ubuntu: apt-get install apparmor-profiles, then link bwrap-userns-restrict into /etc/apparmor.d and reload), or for all: sysctl kernel.apparmor_restrict_unprivileged_userns=0.",
    );
  }
  if (facts.userNamespacesAllowed === "0" && !facts.isRoot) {
    return no(
      `ordinary users may not make user namespaces (${said})`,
      "Allow it: sysctl kernel.unprivileged_userns_clone=1 (Debian).",
    );
  }
  if (facts.userNamespacesMax === "0") {
    return no(
      `user namespaces are switched off (${said})`,
      "Allow them: sysctl user.max_user_namespaces=15000.",
    );
  }
  return no(
    `bubblewrap failed: ${said}`,
    "Try `bwrap --unshare-user --ro-bind / / true` by hand; user namespaces must be allowed. See docs/sandbox.md.",
  );
}

function no(why: string, fix: string): SandboxRefusal {
  return { ok: false, why, fix };
}

function systemFacts(): SystemFacts {
  return {
    platform: process.platform,
    kernel: read("/proc/version") ?? "",
    isRoot: process.getuid?.() === 0,
    isContainer: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
    apparmorRestricts: read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
    userNamespacesAllowed: read("/proc/sys/kernel/unprivileged_userns_clone"),
    userNamespacesMax: read("/proc/sys/user/max_user_namespaces"),
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
