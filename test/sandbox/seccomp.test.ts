// These tests run the filter in a small interpreter, with every call number. The attack tests show that the
// kernel accepts the filter.
import { expect, test } from "vitest";
import { Bubblewrap } from "../../src/sandbox/bubblewrap.ts";
import { sandboxSpec } from "../../src/sandbox/sandbox-options.ts";
import { seccompProgram } from "../../src/sandbox/seccomp.ts";
import { useDirectories } from "../fixtures/directories.ts";
import { noSandbox } from "../fixtures/sandboxes.ts";

const directory = useDirectories();

const X86_64 = 0xc000_003e;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;

const program = seccompProgram() ?? Buffer.alloc(0);

test.each([
  ["ptrace", 101],
  ["mount", 165],
  ["umount2", 166],
  ["pivot_root", 155],
  ["setns", 308],
  ["open_tree", 428],
  ["mount_setattr", 442],
  ["keyctl", 250],
  ["bpf", 321],
  ["io_uring_setup", 425],
  ["io_uring_enter", 426],
  ["userfaultfd", 323],
  ["open_by_handle_at", 304],
  ["process_vm_writev", 311],
])("%s is denied", (_, number) => {
  expect(run({ number })).toBe(EPERM);
});

test("reading, writing, forking and exec are allowed, and exactly 55 calls are denied", () => {
  for (const number of [0, 1, 2, 9, 42, 57, 59, 61, 257]) expect(run({ number })).toBe(ALLOW);
  const denied = Array.from({ length: 500 }, (_, number) => number).filter(
    (number) => run({ number }) !== ALLOW,
  );
  // These include socket(0), socketpair(0), clone3 and openat2.
  expect(denied.length).toBe(55);
});

test.each([
  ["chmod", 90, 1],
  ["fchmod", 91, 1],
  ["fchmodat", 268, 2],
  ["fchmodat2", 452, 2],
  ["mknod", 133, 1],
  ["mknodat", 259, 2],
  ["creat", 85, 1],
])("%s is denied with the setuid bit, and allowed with every other mode", (_, number, index) => {
  const withMode = (mode: number) => run({ number, arguments: [0, 0, 0, 0].with(index, mode) });
  expect([0o4000, 0o4755, 0o6755, 0o104755, 0o7777].map(withMode)).toEqual(Array(5).fill(EPERM));
  expect([0, 0o755, 0o2775, 0o3777, 0o100644].map(withMode)).toEqual(Array(5).fill(ALLOW));
});

test.each([
  ["open", 2, 1],
  ["openat", 257, 2],
])("%s is denied with the setuid bit only if it can create a file", (_, number, index) => {
  const [CREATE, TEMPORARY, DIRECTORY, WRITE] = [0o100, 0o20_200_000, 0o200_000, 0o1];
  const open = (flags: number, mode: number) =>
    run({ number, arguments: [0, 0, 0, 0].with(index, flags).with(index + 1, mode) });
  for (const flags of [CREATE, CREATE | WRITE, TEMPORARY, TEMPORARY | WRITE]) {
    expect(open(flags, 0o4755)).toBe(EPERM);
    expect(open(flags, 0o2755)).toBe(ALLOW);
  }
  for (const flags of [0, WRITE, DIRECTORY]) expect(open(flags, 0o7777)).toBe(ALLOW);
});

test("openat2 fails as if it did not exist, because a filter cannot read its mode", () => {
  expect(run({ number: 437 })).toBe(ENOSYS);
});

test("sockets are allowed for the internet and for netlink, and for no other family", () => {
  const socket = (family: number) => run({ number: 41, arguments: [family] });
  expect([2, 10, 16].map(socket)).toEqual([ALLOW, ALLOW, ALLOW]);
  // Unix sockets, and families that a network namespace does not restrict: kernel crypto, bluetooth, the hypervisor.
  expect([1, 17, 31, 38, 40].map(socket)).toEqual([EPERM, EPERM, EPERM, EPERM, EPERM]);
});

test("a pair of sockets is allowed if its ends can reach nothing else", () => {
  const [STREAM, DATAGRAM, RAW, RELIABLE, SEQPACKET] = [1, 2, 3, 4, 5];
  const pair = (family: number, type = 0) => run({ number: 53, arguments: [family, type] });
  for (const flags of [0, 0o4000, 0o2000000, 0o2004000]) {
    for (const type of [STREAM, SEQPACKET]) expect(pair(1, type | flags)).toBe(ALLOW);
    for (const type of [0, DATAGRAM, RAW, RELIABLE, 10]) expect(pair(1, type | flags)).toBe(EPERM);
  }
  for (const family of [0, 2, 10, 16, 30, 40]) expect(pair(family, STREAM)).toBe(EPERM);
});

test("requests that insert terminal input are denied, and other terminal requests are allowed", () => {
  const ioctl = (request: number) => run({ number: 16, arguments: [1, request] });
  expect([0x5412, 0x541c].map(ioctl)).toEqual([EPERM, EPERM]);
  expect([0x5401, 0x5413].map(ioctl)).toEqual([ALLOW, ALLOW]);
});

test("clone, unshare and clone3 create no user namespace", () => {
  const NEWUSER = 0x1000_0000;
  for (const number of [56, 272]) {
    expect(run({ number, arguments: [NEWUSER | 17] })).toBe(EPERM);
    expect(run({ number, arguments: [17] })).toBe(ALLOW);
  }
  expect(run({ number: 435 })).toBe(ENOSYS);
});

test("call numbers of other architectures end the process", () => {
  expect(run({ number: 1, architecture: 0x4000_0003 })).toBe(KILL);
  expect(run({ number: 0x4000_0000 + 165 })).toBe(KILL);
});

test("the option debuggers additionally allows the tracing calls, and no others", () => {
  const forDebuggers = seccompProgram({ debuggers: true }) ?? Buffer.alloc(0);
  expect(run({ number: 101 }, forDebuggers)).toBe(ALLOW);
  expect(run({ number: 310 }, forDebuggers)).toBe(ALLOW);
  expect(run({ number: 165 }, forDebuggers)).toBe(EPERM);
});

test("there is no filter for other CPU architectures", () => {
  expect(seccompProgram({ architecture: "arm64" })).toBeUndefined();
});

test("on another CPU, every result reports that the filter is missing", ({ skip }) => {
  skip(noSandbox !== undefined, noSandbox);
  const [workspace, stateRoot] = [directory(), directory()];
  const spec = sandboxSpec({ sandbox: "read-only" }, { workspace, stateRoots: [stateRoot], trusted: [] });
  if (!spec) throw new Error("no sandbox");
  const plan = {
    argv: ["true"],
    workingDir: workspace,
    visibleState: { stateRoot, readable: [], writable: [] },
    repositories: [],
    isPlaceholder: () => false,
  };
  const real = process.arch;
  try {
    Object.defineProperty(process, "arch", { value: "arm64" });
    const { confinement, descriptors } = new Bubblewrap(stateRoot).wrap(spec, plan);
    expect(confinement.notEnforced).toEqual([
      "the system call filter: nacre has none for arm64, so commands can connect to unix sockets and create setuid files",
    ]);
    expect(descriptors.map(({ content }) => content?.toString() ?? "").join()).not.toContain("--seccomp");
  } finally {
    Object.defineProperty(process, "arch", { value: real });
  }
});

interface Call {
  readonly number: number;
  readonly architecture?: number;
  readonly arguments?: readonly number[];
}

/** The part of classic BPF that the filter uses. */
function run(call: Call, code = program): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.architecture ?? X86_64, 4);
  for (const [index, value] of (call.arguments ?? []).entries()) data.writeUInt32LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < code.length / 8; at++) {
    const [operation, ifTrue, ifFalse, value] = [
      code.readUInt16LE(at * 8),
      code.readUInt8(at * 8 + 2),
      code.readUInt8(at * 8 + 3),
      code.readUInt32LE(at * 8 + 4),
    ];
    if (operation === 0x20) accumulator = data.readUInt32LE(value);
    else if (operation === 0x54) accumulator &= value;
    else if (operation === 0x06) return value;
    else at += holds(operation, accumulator, value) ? ifTrue : ifFalse;
  }
  throw new Error("The filter has no return.");
}

function holds(operation: number, accumulator: number, value: number): boolean {
  switch (operation) {
    case 0x15:
      return accumulator === value;
    case 0x35:
      return accumulator >= value;
    case 0x45:
      return (accumulator & value) !== 0;
    default:
      throw new Error(`Unknown operation ${operation}.`);
  }
}
