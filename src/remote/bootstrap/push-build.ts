// Pushes nacre's build to the remote machine, and Node if that machine has no usable Node.
import { readFileSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type LinkProcess, startLinkProcess } from "../../engine/link-process.ts";
import { ownBuildFiles } from "../../engine/own-build.ts";
import { attempt } from "../../support/attempt.ts";
import { REMOTE_NOISE_MAX_CHARS, REMOTE_PUSH_MAX_MS } from "../../support/limits.ts";
import { within } from "../../support/timing.ts";
import { printableLine } from "../links/client-output.ts";
import type { Link } from "../links/link.ts";
import { explainLinkFailure } from "../links/link-failure.ts";
import {
  checkMachine,
  checkSpace,
  isUsableNode,
  type MachineFacts,
  refusedMachine,
} from "./machine-facts.ts";
import { pushArguments } from "./remote-scripts.ts";
import { type ArchivedFile, archiveSize, tarArchive } from "./tar-archive.ts";

export interface PushOptions {
  readonly buildHash: string;
  /** Path on this machine of a Node program for the remote machine. @default this process's Node, if it fits */
  readonly node?: string | undefined;
}

/** The line that the push script prints if Node does not run there. */
const NODE_REFUSED = /^nacre-refused node (.*)$/m;

export async function pushBuild(link: Link, facts: MachineFacts, options: PushOptions): Promise<void> {
  const { url } = link;
  const base = checkMachine(url, facts);
  const present = facts.nodes.find(({ version }) => isUsableNode(version));
  const node = present ? undefined : nodeToPush(url, facts, options.node);
  const files: ArchivedFile[] = [...ownBuildFiles()];
  if (node) files.push({ name: "node-program", path: node.path, isProgram: true });
  checkSpace(url, facts, archiveSize(files));
  const remote = pushArguments(base, options.buildHash, present?.path ?? "", node?.name ?? "");
  const process = startLinkProcess(link.argv(remote));
  const noise = collect(process);
  const send = pipeline(Readable.from(tarArchive(files)), createGzip({ level: 1 }), process.stdin).catch(
    () => {},
  );
  const end = await within(REMOTE_PUSH_MAX_MS, Promise.all([process.ended, noise.closed]));
  process.kill();
  await send;
  const { stdout, stderr } = noise;
  if (/^nacre-pushed v/m.test(stdout())) return;
  const text = { stdout: stdout(), stderr: stderr() };
  const [, complaint] = NODE_REFUSED.exec(text.stdout) ?? [];
  if (complaint !== undefined) throw nodeFailed(url, printableLine(complaint), facts);
  if (/No space left on device|Disk quota exceeded/.test(text.stderr)) {
    throw refusedMachine(
      url,
      `${base} has no space left`,
      "Free some space there, or set XDG_CACHE_HOME to a larger disk.",
    );
  }
  throw explainLinkFailure(link, end?.[0] ?? "silent", text);
}

/** The Node that the user names. Otherwise this process's Node, if architecture and libc match. */
function nodeToPush(
  url: string,
  facts: MachineFacts,
  given: string | undefined,
): { path: string; name: string } {
  const { arch = "unknown", libc = "unknown" } = facts;
  if (given !== undefined) {
    const size = attempt(() => statSync(given).size);
    if (size === undefined)
      throw refusedMachine(
        url,
        `there is no Node program at ${given} on this machine`,
        "Correct the path in NACRE_REMOTE_NODE.",
      );
    return { path: given, name: `node-given-${arch}-${size}` };
  }
  const fits = ARCHITECTURES[arch] === process.arch && libc === ownLibc();
  if (fits) return { path: process.execPath, name: `node-${process.version}-${process.arch}` };
  const found = facts.nodes.map(({ version }) => version).join(", ");
  const old = found === "" ? "it has no Node" : `its Node is too old (${found})`;
  throw refusedMachine(
    url,
    `${old}, and the Node of this machine (${process.arch}, ${ownLibc()}) does not fit there (${arch}, ${libc})`,
    "Install Node 20.19 or newer there (apt-get install nodejs, or apk add nodejs), or set NACRE_REMOTE_NODE to a Node program for that machine.",
  );
}

/** Node's name of each architecture, by the name that `uname -m` prints. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  ...{ x86_64: "x64", amd64: "x64", aarch64: "arm64", arm64: "arm64" },
  ...{ armv7l: "arm", ppc64le: "ppc64", s390x: "s390x", riscv64: "riscv64" },
};

function ownLibc(): string {
  const maps = attempt(() => readFileSync("/proc/self/maps", "utf8")) ?? "";
  return maps.includes("ld-musl-") ? "musl" : "glibc";
}

function nodeFailed(url: string, complaint: string, { libc = "unknown" }: MachineFacts): Error {
  const [library] = /lib[\w.+-]+\.so(?:\.\d+)*/.exec(complaint) ?? [];
  const problem =
    library === undefined
      ? `Node does not run there: ${complaint.trim()}`
      : `Node does not run there: the library ${library} is missing`;
  const fix = library?.startsWith("libstdc++")
    ? "Install the package libstdc++6 there, or Node itself."
    : `Install Node 20.19 or newer there (its libc is ${libc}).`;
  return refusedMachine(url, problem, fix);
}

function collect(process: LinkProcess): {
  stdout: () => string;
  stderr: () => string;
  closed: Promise<unknown>;
} {
  const texts = { stdout: "", stderr: "" };
  const closed = (["stdout", "stderr"] as const).map((name) => {
    process[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] = `${texts[name]}${text}`.slice(-REMOTE_NOISE_MAX_CHARS);
    });
    return new Promise<void>((resolve) => process[name].once("close", () => resolve()));
  });
  return { stdout: () => texts.stdout, stderr: () => texts.stderr, closed: Promise.all(closed) };
}
