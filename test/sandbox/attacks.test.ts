// Attacks try to escape from the sandbox, in every profile. Each attack must succeed without a sandbox: a
// test that cannot fail proves nothing. The policy is off, because it would hide a hole in the sandbox.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxProfile } from "../../src/engine/confinement.ts";
import { eventually } from "../fixtures/eventually.ts";
import { programWithOldCall } from "../fixtures/old-call.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const { home, workspace, outside } = world;
const PROFILES = ["read-only", "workspace-write"] as const;
const managers = Object.fromEntries(
  (["off", ...PROFILES] as const).map((sandbox) => [sandbox, world.manager({ sandbox })]),
) as unknown as Record<SandboxProfile, ReturnType<typeof world.manager>>;

const SECRET = "HOST-SECRET-7c1f";
let received: string[] = [];
let tcpPort = 0;
let udpPort = 0;
const closing: (() => void)[] = [];
const datagrams = join(outside, "datagrams");
const receiver = spawn(
  "perl",
  [
    ...["-MSocket", "-e"],
    `$| = 1; socket(my $s, AF_UNIX, SOCK_DGRAM, 0); bind($s, pack_sockaddr_un("${datagrams}")) or die; print "ready\n"; while (1) { recv($s, my $text, 100, 0) }`,
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const victim = spawn("sleep", ["1000"], { env: { SECRET }, stdio: "ignore" });

beforeAll(async () => {
  await once(receiver.stdout, "data");
  const tcp = createServer((socket) => socket.end("hello\n"));
  tcpPort = await listening(tcp, () => tcp.listen(0, "0.0.0.0"));
  const path = createServer((socket) => socket.end("hello\n"));
  await listening(path, () => path.listen(join(outside, "docker.sock")));
  const abstract = createServer((socket) => socket.end("hello\n"));
  await listening(abstract, () => abstract.listen(`\0nacre-test-${process.pid}`));
  const udp = createSocket("udp4", (message) => received.push(message.toString().trim()));
  await new Promise<void>((resolve) => udp.bind(0, "0.0.0.0", resolve));
  udpPort = udp.address().port;
  closing.push(
    () => tcp.close(),
    () => path.close(),
    () => abstract.close(),
    () => udp.close(),
  );
});

afterAll(() => {
  victim.kill("SIGKILL");
  receiver.kill("SIGKILL");
  for (const close of closing) close();
});

interface Attack {
  readonly name: string;
  /** Prints REACHED if it succeeds. */
  readonly command: () => string;
  /** Runs before each attempt. */
  readonly before?: () => void;
  /** Returns whether the attack succeeded, for an attack that cannot print REACHED itself. */
  readonly reached?: () => Promise<boolean>;
  /** A condition without which the attack cannot succeed, even outside a sandbox. */
  readonly needs?: "root" | "32-bit calls";
}

const node = `'${process.execPath}' -e`;
const connect = (target: string) =>
  `${node} 'require("net").connect(${target}).on("data", () => { console.log("REACHED"); process.exit() }).on("error", (e) => console.log(e.code))'`;
const syscall = (words: string, variables = "") =>
  `perl -e '${variables} print "REACHED\\n" if syscall(${words}) >= 0; print "$!\\n"'`;

const ATTACKS: readonly Attack[] = [
  { name: "writes outside the workspace", command: () => `echo x >'${outside}/file' && echo REACHED` },
  { name: "writes to the home directory", command: () => `echo x >~/file && echo REACHED` },
  {
    name: "writes through a link in the workspace",
    before: () => link(join(workspace, "link"), outside),
    command: () => "echo x >link/linked && echo REACHED",
  },
  {
    name: "remounts the root for writing",
    command: () => `mount -o remount,rw / && echo x >'${outside}/file' && echo REACHED`,
    needs: "root",
  },
  {
    name: "mounts a file system",
    command: () =>
      `mkdir -p '${outside}/m' "/tmp/m$$" 2>/dev/null; for d in '${outside}/m' "/tmp/m$$"; do mount -t tmpfs none "$d" && umount "$d" && echo REACHED; done; rmdir "/tmp/m$$"`,
    needs: "root",
  },
  {
    name: "opens the kernel's settings for writing",
    command: () => "(exec 3>>/proc/sys/kernel/core_pattern) && echo REACHED",
    needs: "root",
  },
  { name: "creates a user namespace", command: () => "unshare --user true && echo REACHED" },
  { name: "reads an ssh key", command: () => "cat ~/.ssh/id_ed25519 && echo REACHED" },
  { name: "reads cloud credentials", command: () => "cat ~/.aws/credentials && echo REACHED" },
  { name: "reads ~/.netrc", command: () => "cat ~/.netrc && echo REACHED" },
  { name: "reads ~/.npmrc", command: () => "cat ~/.npmrc && echo REACHED" },
  {
    name: "reads the output of other shells",
    command: () => `cat '${home}'/state*/shells/*/meta && echo REACHED`,
  },
  { name: "connects to the host's loopback", command: () => connect(`${tcpPort}, "127.0.0.1"`) },
  { name: "connects to an outside address", command: () => connect(`${tcpPort}, "${outsideAddress()}"`) },
  {
    name: "sends a datagram to the host",
    before: () => {
      received = [];
    },
    command: () =>
      `${node} 'require("dgram").createSocket("udp4").send("SENT", ${udpPort}, "127.0.0.1", () => process.exit())'`,
    reached: async () => {
      // Datagrams to one socket arrive in order: after this one, no earlier datagram is missing.
      await udpSend("LAST");
      await eventually(() => expect(received).toContain("LAST"));
      return received.includes("SENT");
    },
  },
  { name: "connects to a unix socket by its path", command: () => connect(`"${outside}/docker.sock"`) },
  { name: "connects to an abstract unix socket", command: () => connect(`"\\0nacre-test-${process.pid}"`) },
  ...[
    ["a datagram", "SOCK_DGRAM"],
    ["a datagram that does not block", "SOCK_DGRAM | 04000 | 02000000"],
    ["a raw", "SOCK_RAW"],
  ].map(([what = "", type = ""]) => ({
    name: `sends to a unix socket from ${what} socketpair`,
    command: () =>
      `perl -MSocket -e 'socketpair(my $one, my $two, AF_UNIX, ${type}, 0) or die "$!\n"; print "REACHED\n" if defined send($one, "SENT", 0, pack_sockaddr_un("${datagrams}"))'`,
  })),
  {
    name: "uses the system call numbers of 32-bit programs",
    before: () => writeFileSync(join(workspace, "old-call"), programWithOldCall(), { mode: 0o755 }),
    command: () => "./old-call",
    needs: "32-bit calls",
  },
  { name: "signals an outside process", command: () => `kill -0 ${victim.pid} && echo REACHED` },
  {
    name: "sees outside processes",
    command: () => `[[ $(tr '\\0' ' ' </proc/${victim.pid}/cmdline) == 'sleep 1000 ' ]] && echo REACHED`,
  },
  { name: "traces an outside process", command: () => syscall(`101, 0x4206, ${victim.pid}, 0, 0`) },
  { name: "asks to be traced", command: () => syscall("101, 0, 0, 0, 0") },
  {
    name: "sees block devices",
    command: () => "find /dev -type b 2>/dev/null | grep -q . && echo REACHED",
    needs: "root",
  },
  {
    name: "sees the first process of the host",
    command: () => `[[ $(sha256sum </proc/1/cmdline) == ${hashOf("/proc/1/cmdline")}* ]] && echo REACHED`,
  },
  {
    name: "reads the environment of the host's processes",
    command: () => `grep -qs ${SECRET} /proc/[0-9]*/environ && echo REACHED`,
  },
  {
    name: "writes a git hook",
    before: repository,
    command: () => "echo x >.git/hooks/pre-commit && echo REACHED",
  },
  {
    name: "moves .git away and creates another with hooks",
    before: repository,
    command: () => "mv .git .git2 && mkdir -p .git/hooks && echo x >.git/hooks/pre-commit && echo REACHED",
  },
  {
    name: "sets a git config",
    before: repository,
    command: () => "git config core.fsmonitor x && echo REACHED",
  },
  {
    name: "redirects git to another config",
    before: repository,
    command: () => `echo '${workspace}/evil' >.git/commondir && grep -q evil .git/commondir && echo REACHED`,
  },
  {
    name: "creates a key in the kernel",
    // add_key("user", "nacre", "x", 1, KEY_SPEC_PROCESS_KEYRING)
    command: () => syscall("248, $t, $d, $p, 1, -2", 'my ($t, $d, $p) = ("user", "nacre-test", "x");'),
  },
  {
    name: "sets the setuid bit of a file",
    command: () => 'f=$(mktemp) && chmod 4755 "$f" && echo REACHED; rm -f "$f"',
  },
  { name: "sets up an io_uring", command: () => syscall("425, 1, $b", 'my $b = "\\0" x 128;') },
];

describeSandboxed("a command in a sandbox", () => {
  describe.each(PROFILES)("%s", (profile) => {
    test.each(ATTACKS)("does not succeed when it $name", async (attack) => {
      expect(await succeeds(attack, profile)).toBe(false);
    });
  });
});

describe("an attack without a sandbox", () => {
  const isRoot = process.getuid?.() === 0;
  const has = { root: isRoot, "32-bit calls": allowsOldCalls() };
  test.each(ATTACKS.filter(({ needs }) => needs === undefined || has[needs]))(
    "succeeds when it $name",
    async (attack) => {
      expect(await succeeds(attack, "off")).toBe(true);
    },
  );
});

describeSandboxed("the first process in a sandbox", () => {
  test.each(PROFILES)("has the same environment as the command in the profile %s", async (profile) => {
    const command =
      "comm -23 <(tr '\\0' '\\n' </proc/1/environ | sort) <(tr '\\0' '\\n' </proc/$$/environ | sort) | grep -v ^_=";
    const shell = await runIn(managers[profile], command, workspace);
    expect(shell.getAllOutput().replace(/^SHLVL=.*\n/m, "")).toBe("");
  });
});

async function succeeds({ before, command, reached }: Attack, profile: SandboxProfile): Promise<boolean> {
  before?.();
  const shell = await runIn(managers[profile], command(), workspace);
  const output = shell.getAllOutput();
  expect(shell.confinement?.profile ?? "off").toBe(profile);
  expect(output).not.toContain("bwrap:");
  return reached ? await reached() : output.includes("REACHED");
}

function repository(): void {
  for (const name of [".git", ".git2"]) rmSync(join(workspace, name), { recursive: true, force: true });
  execFileSync("git", ["init", "-q", workspace]);
}

function link(path: string, target: string): void {
  if (!existsSync(path)) symlinkSync(target, path);
  rmSync(join(target, "linked"), { force: true });
}

function outsideAddress(): string {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((address) => address && !address.internal && address.family === "IPv4");
  return found?.address ?? "127.0.0.1";
}

function hashOf(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return "unreadable";
  }
}

async function udpSend(text: string): Promise<void> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.send(text, udpPort, "127.0.0.1", () => resolve()));
  socket.close();
}

async function listening(server: Server, listen: () => void): Promise<number> {
  await new Promise<void>((resolve) => {
    server.once("listening", resolve);
    listen();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Whether the kernel allows 32-bit calls. It can be built or booted without them. */
function allowsOldCalls(): boolean {
  const path = join(outside, "old-call");
  writeFileSync(path, programWithOldCall(), { mode: 0o755 });
  return spawnSync(path).stdout?.toString() === "REACHED\n";
}

mkdirSync(join(workspace, "evil"), { recursive: true });
writeFileSync(join(workspace, "evil/config"), "");
