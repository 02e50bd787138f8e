// Explains why the sandbox does not work on this machine and how to fix it, from system settings and bwrap's error
// message.
import { existsSync, readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { OVERLAY_FAILED } from "./overlay-failure.ts";

export interface SandboxRefusal {
  readonly ok: false;
  readonly why: string;
  readonly fix: string;
}

/** Properties of the system that decide whether namespaces can be created. */
export interface SystemFacts {
  readonly platform: string;
  readonly kernel: string;
  readonly isRoot: boolean;
  readonly isContainer: boolean;
  /** The contents of three files below /proc/sys; undefined for a missing file. */
  readonly apparmorRestricts: string | undefined;
  readonly userNamespacesAllowed: string | undefined;
  readonly userNamespacesMax: string | undefined;
}

const IN_DOCKER =
  "In Docker, start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined (or give it --privileged), or turn the sandbox off and rely on the container.";

export function explainMissing(facts: SystemFacts = systemFacts()): SandboxRefusal {
  if (facts.platform !== "linux") {
    return refusal(
      "the sandbox needs bubblewrap, which exists only for Linux",
      "Use Linux or WSL 2, or set the sandbox to off.",
    );
  }
  return refusal(
    "bubblewrap (bwrap) is not installed, or only in a directory that commands can write",
    "Install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine).",
  );
}

/** `message` is what bwrap printed to stderr. */
export function explainFailure(
  code: number | null,
  message: string,
  facts: SystemFacts = systemFacts(),
): SandboxRefusal {
  const error = message === "" ? `bwrap ended with code ${code}` : message;
  if (message.includes(OVERLAY_FAILED)) {
    return refusal(
      `the kernel refuses an overlay here (${error.replace(OVERLAY_FAILED, "").trim()})`,
      "Previews need Linux 5.11 or later, a file system with extended attributes below nacre's state directory, and no overlayfs there.",
    );
  }
  if (/Unknown option/i.test(message)) {
    return refusal(`bubblewrap is too old (${error})`, "Install bubblewrap 0.8.0 or later.");
  }
  if (/microsoft/i.test(facts.kernel) && !/WSL2|microsoft-standard/i.test(facts.kernel)) {
    return refusal(
      `WSL 1 has no namespaces (${error})`,
      "Convert the distribution: wsl --set-version <name> 2.",
    );
  }
  if (facts.isContainer) {
    return refusal(
      `this container does not allow the namespaces and mounts of a sandbox (${error})`,
      IN_DOCKER,
    );
  }
  if (facts.apparmorRestricts === "1" && !facts.isRoot) {
    return refusal(
      `AppArmor does not let ordinary users create namespaces, as on Ubuntu 23.10 and later (${error})`,
      "Allow it for bwrap with an AppArmor profile (Ubuntu: apt-get install apparmor-profiles, then link bwrap-userns-restrict into /etc/apparmor.d and reload), or for all programs: sysctl kernel.apparmor_restrict_unprivileged_userns=0.",
    );
  }
  if (facts.userNamespacesAllowed === "0" && !facts.isRoot) {
    return refusal(
      `ordinary users may not create user namespaces (${error})`,
      "Allow it: sysctl kernel.unprivileged_userns_clone=1 (Debian).",
    );
  }
  if (facts.userNamespacesMax === "0") {
    return refusal(
      `user namespaces are turned off (${error})`,
      "Allow them: sysctl user.max_user_namespaces=15000.",
    );
  }
  return refusal(
    `bubblewrap failed: ${error}`,
    "Try `bwrap --unshare-user --ro-bind / / true` by hand; user namespaces must be allowed. See docs/sandbox.md.",
  );
}

function refusal(why: string, fix: string): SandboxRefusal {
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
  return attempt(() => readFileSync(path, "utf8").trim());
}
