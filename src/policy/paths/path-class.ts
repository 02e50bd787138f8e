// The class of a resolved path: system, home, secret, workspace and so on.

import { HOME_STARTUP } from "../../support/startup-paths.ts";
import { hasGlob, isUnresolved } from "../shell-model/marks.ts";
import { SETTINGS_IN_HOME, SETTINGS_IN_WORKSPACE, STATE_ROOT } from "./agent-settings.ts";
import { isHomeCredential, isStateCredential } from "./credentials.ts";
import { PathIndex } from "./path-index.ts";
import { couldBe, couldStartWith, equals, startsWith } from "./path-parts.ts";

export const PATH_CLASSES = [
  /** The root of the file system. */
  "root",
  /** A home directory, or a directory that contains home directories. */
  "home",
  /** A directory that contains the workspace. */
  "above-workspace",
  /** Files that the machine needs to boot and to log users in. */
  "system",
  /** Other files of the machine, such as the configuration of services and /usr/local. */
  "system-config",
  /** Kernel settings below /proc and /sys. */
  "kernel",
  /** Disks and memory. */
  "device",
  /** Devices that are harmless to write to, such as /dev/null. */
  "harmless-device",
  /** bash's /dev/tcp and /dev/udp. */
  "network",
  /** Keys and credentials. */
  "secret",
  /** Files that run at login, at boot, or with every shell. */
  "startup",
  /** Hooks that git runs, and configuration that can name programs for git to run. */
  "hooks",
  /** Rule files of this policy, and the agent settings that decide what runs without approval. */
  "policy",
  /** The repository itself. */
  "repository",
  /** The workspace as a whole. */
  "workspace",
  "inside-workspace",
  "temp-root",
  "temp",
  "inside-home",
  "outside",
  "unknown",
] as const;

export type PathClass = (typeof PATH_CLASSES)[number];

interface BasePaths {
  readonly homeParts: readonly string[];
  readonly workspaceParts: readonly string[];
  /** Files and directories with user rules, and the state roots. */
  readonly policyParts: readonly (readonly string[])[];
  /** The state roots of nacre, in addition to the usual one in each home directory. */
  readonly stateParts: readonly (readonly string[])[];
}

export function classOf(parts: readonly string[], places: BasePaths): PathClass {
  const [first = "", second = ""] = parts;
  if (parts.length === 0) return "root";
  if (hasGlob(first)) return homeClass(parts, places) === "secret" ? "secret" : "root";
  if (parts.length === 1 && isUnresolved(first)) return "root";
  if (first === "dev") return deviceClass(parts);
  if (first === "proc" || first === "sys") return kernelClass(parts);
  if (places.policyParts.some((held) => couldStartWith(parts, held))) return "policy";
  return (
    homeClass(parts, places) ??
    workspaceClass(parts, places.workspaceParts) ??
    (startsWith(parts, places.homeParts) && places.homeParts.length > 1 ? "inside-home" : null) ??
    tempClass(parts) ??
    systemClass(parts, second) ??
    (startsWith(parts, places.homeParts) ? "inside-home" : "outside")
  );
}

/**
 * Whether this path holds approval requests or the token of nacre's page. A program that reads these could approve
 * commands.
 */
export function allowsApproval(parts: readonly string[], places: BasePaths): boolean {
  const inState = (root: readonly string[], at: readonly string[]) =>
    couldStartWith(at, root) && isStateCredential(at.slice(root.length));
  if (places.stateParts.some((root) => inState(root, parts))) return true;
  const depth = homeDepth(parts, places);
  return depth > 0 && inState(USUAL_STATE_ROOT, parts.slice(depth));
}

const USUAL_STATE_ROOT = STATE_ROOT.split("/");

function deviceClass(parts: readonly string[]): PathClass {
  const [, name = "", below = ""] = parts;
  if (parts.length === 1) return "system";
  if (name === "tcp" || name === "udp") return "network";
  if (name === "shm") return below === "" ? "temp-root" : "temp";
  return /^(null|zero|full|u?random|tty|std(in|out|err)|fd|pts|ptmx|console|log)/.test(name)
    ? "harmless-device"
    : "device";
}

function kernelClass(parts: readonly string[]): PathClass {
  const [first = "", second = "", third = ""] = parts;
  if (parts.length === 1) return "system";
  if (first === "proc" && /^(environ|mem)$/.test(third)) return "secret";
  if (first === "proc" && /^(self|thread-self|\d+)$/.test(second)) return "harmless-device";
  return "kernel";
}

function homeClass(parts: readonly string[], places: BasePaths): PathClass | null {
  const depth = homeDepth(parts, places);
  if (depth === 0) return null;
  if (parts.length > depth) return sensitiveClass(parts.slice(depth));
  return !isInOwnHome(parts, places) && equals(parts, places.workspaceParts) ? null : "home";
}

function isInOwnHome(parts: readonly string[], { homeParts }: BasePaths): boolean {
  return startsWith(parts, homeParts) || (homeParts.length > 0 && couldStartWith(parts, homeParts));
}

/** How many leading parts of the path name a home directory; 0 if the path is not in one. */
function homeDepth(parts: readonly string[], places: BasePaths): number {
  return isInOwnHome(parts, places) ? places.homeParts.length : foreignHomeDepth(parts);
}

/** How many leading parts of the path name another user's home directory; 0 if the path is not in one. */
function foreignHomeDepth([first = "", second]: readonly string[]): number {
  if (couldBe(first, "root")) return 1;
  if (!couldBe(first, "home") && !couldBe(first, "Users")) return 0;
  return second === undefined ? 1 : 2;
}

const STARTUP = new PathIndex(HOME_STARTUP.map(({ path }) => path));

function sensitiveClass(below: readonly string[]): PathClass | null {
  if (isHomeCredential(below)) return "secret";
  if (isSettings(below, SETTINGS_IN_HOME)) return "policy";
  return STARTUP.couldContain(below) ? "startup" : null;
}

function isSettings(below: readonly string[], settings: PathIndex): boolean {
  const [first = ""] = below;
  // A pattern counts only if it starts with a dot: `rm *.json` does not target an agent's settings.
  return (first.startsWith(".") || !hasGlob(first)) && settings.couldContain(below);
}

function workspaceClass(parts: readonly string[], workspace: readonly string[]): PathClass | null {
  if (workspace.length === 0) return null;
  if (!startsWith(parts, workspace)) return startsWith(workspace, parts) ? "above-workspace" : null;
  const below = parts.slice(workspace.length);
  const [first, second] = below;
  if (first === undefined) return "workspace";
  if (!couldBe(first, ".git"))
    return isSettings(below, SETTINGS_IN_WORKSPACE) ? "policy" : "inside-workspace";
  if (second === undefined || HISTORY.some((name) => couldBe(second, name))) return "repository";
  return EXECUTED.some((name) => couldBe(second, name)) ? "hooks" : "inside-workspace";
}

/** Entries of a git directory that contain commits. */
const HISTORY = ["objects", "refs", "logs", "HEAD", "packed-refs", "modules"];
/** Entries of a git directory that contain or name programs for git to run. */
const EXECUTED = ["hooks", "config", "config.worktree"];

function tempClass([first = "", second = "", third = ""]: readonly string[]): PathClass | null {
  if (first === "tmp") return second === "" ? "temp-root" : "temp";
  if (first === "var" && second === "tmp") return third === "" ? "temp-root" : "temp";
  return first === "var" && second === "folders" && third !== "" ? "temp" : null;
}

const BINARIES =
  /^(bin|sbin|lib|lib32|lib64|libx32|boot|root|efi|System|Library|Applications|Volumes|cores)$/;
const WHOLE_TREES = /^(etc|usr|var|opt|srv|mnt|media|run|home|lost\+found|snap|nix)$/;
const CORE_OF_ETC =
  /^(sudoers\.d|pam\.d|ssl|ssh|security|alternatives|init\.d|rc\w\.d|selinux|grub\.d|ld\.so\.conf\.d|pki)$/;
const CORE_OF_VAR = /^(dpkg|rpm|pacman|systemd)$/;

function systemClass(parts: readonly string[], second: string): PathClass | null {
  const [first = "", , third = ""] = parts;
  if (BINARIES.test(first)) return "system";
  if (!WHOLE_TREES.test(first)) return null;
  if (parts.length === 1) return "system";
  if (first === "etc") return parts.length === 2 || CORE_OF_ETC.test(second) ? "system" : "system-config";
  if (first === "usr") return second === "local" && parts.length > 3 ? "system-config" : "system";
  if (first !== "var") return null;
  return parts.length === 2 || (second === "lib" && CORE_OF_VAR.test(third)) ? "system" : "system-config";
}
