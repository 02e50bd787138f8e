// The facts that the start script reports about the remote machine, and the check that nacre can run there.
import { NacreError } from "../../support/errors.ts";
import { REMOTE_SPACE_SPARE_BYTES } from "../../support/limits.ts";

export interface MachineFacts {
  readonly system: string | undefined;
  readonly arch: string | undefined;
  readonly libc: string | undefined;
  readonly bash: string | undefined;
  readonly tar: string | undefined;
  readonly gzip: string | undefined;
  /** A directory of this user from which programs can run. */
  readonly base: string | undefined;
  readonly freeBytes: number | undefined;
  readonly nodes: readonly { readonly version: string; readonly path: string }[];
}

const PREFIX = "nacre-probe ";

export function isProbeLine(line: string): boolean {
  return line.startsWith(PREFIX);
}

export function readFacts(lines: readonly string[]): MachineFacts {
  const pairs = lines.filter(isProbeLine).map((line) => {
    const text = line.slice(PREFIX.length).trimEnd();
    const at = text.indexOf(" ");
    return at < 0 ? ([text, ""] as const) : ([text.slice(0, at), text.slice(at + 1)] as const);
  });
  const value = (name: string) => pairs.find(([key]) => key === name)?.[1] || undefined;
  const free = Number(value("free") ?? Number.NaN);
  return {
    system: value("system"),
    arch: value("arch"),
    libc: value("libc"),
    bash: value("bash"),
    tar: value("tar"),
    gzip: value("gzip"),
    base: value("base"),
    freeBytes: Number.isSafeInteger(free) && free >= 0 ? free * 1024 : undefined,
    nodes: pairs
      .filter(([key]) => key === "node")
      .map(([, text]) => {
        const at = text.indexOf(" ");
        return { version: text.slice(0, at), path: text.slice(at + 1) };
      }),
  };
}

/** Node 20.19 or newer. */
export function isUsableNode(version: string): boolean {
  const [, major = "0", minor = "0"] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  return Number(major) > 20 || (Number(major) === 20 && Number(minor) >= 19);
}

/** Returns the directory for the build. Throws an error that names the missing part and how to get it. */
export function checkMachine(url: string, facts: MachineFacts): string {
  const { system, bash, tar, gzip, base } = facts;
  if (system !== "Linux")
    throw refusedMachine(
      url,
      `it runs ${system ?? "an unknown system"}`,
      "nacre runs commands on Linux only.",
    );
  if (bash === undefined)
    throw refusedMachine(
      url,
      "it has no bash",
      "Install the package bash there: apt-get install bash, or apk add bash.",
    );
  for (const [name, path] of Object.entries({ tar, gzip })) {
    if (path === undefined)
      throw refusedMachine(
        url,
        `it has no ${name}`,
        `Install the package ${name} there, or use an image that contains nacre.`,
      );
  }
  if (base === undefined) {
    throw refusedMachine(
      url,
      "there is no directory from which programs can run: its home, /var/tmp, /tmp and /dev/shm are read-only, full or mounted noexec",
      "Mount a writable directory without noexec at /var/tmp, or set XDG_CACHE_HOME there to one.",
    );
  }
  return base;
}

export function checkSpace(url: string, { base, freeBytes }: MachineFacts, needed: number): void {
  const wanted = needed + REMOTE_SPACE_SPARE_BYTES;
  if (freeBytes === undefined || freeBytes >= wanted) return;
  const mb = (bytes: number) => `${Math.ceil(bytes / 1_000_000)} MB`;
  throw refusedMachine(
    url,
    `${base} has ${mb(freeBytes)} of free space, and nacre needs ${mb(wanted)}`,
    "Free some space there, or set XDG_CACHE_HOME to a larger disk.",
  );
}

export function refusedMachine(url: string, problem: string, fix: string): NacreError {
  return new NacreError("unavailable", `The remote end ${url} cannot run nacre: ${problem}. ${fix}`);
}
