// Builds the system call filter for sandboxed commands on x86-64, as a classic BPF program. It prevents what mounts and
// namespaces do not prevent: unix sockets would work through read-only mounts, io_uring would bypass this filter,
// another user could run a setuid file that a command leaves in the workspace, and the calls in DENIED could change
// mounts, access the kernel or change the machine.
//
// A call of another architecture kills the process, a denied call fails with EPERM, and every other call is allowed.
// Jumps are relative and reach 255 instructions. The tests run the program with every call number.

/** undefined if nacre has no table of system calls for this CPU. */
export function seccompProgram({
  debuggers = false,
  architecture = process.arch as string,
}: {
  readonly debuggers?: boolean;
  readonly architecture?: string;
} = {}): Buffer | undefined {
  if (architecture !== "x64") return undefined;
  const denied = [...Object.values(DENIED), ...(debuggers ? [] : Object.values(TRACING))];
  const program = [
    load(DATA.architecture),
    jump(EQUAL, AUDIT_ARCH_X86_64, 1, 0),
    ret(KILL_PROCESS),
    load(DATA.number),
    // Kill calls with x32 numbers: the same calls have other numbers there, which would bypass the table.
    jump(AT_LEAST, X32_BIT, 0, 1),
    ret(KILL_PROCESS),
    ...checkArgument(CALL.socket, 0, [
      ...SOCKET_FAMILIES.flatMap((family) => [jump(EQUAL, family, 0, 1), ret(ALLOW)]),
      DENY,
    ]),
    ...checkArgument(CALL.socketpair, 0, [
      jump(EQUAL, AF_UNIX, 1, 0),
      DENY,
      load(DATA.arguments + 8),
      and(SOCKET_TYPE_BITS),
      ...PAIR_TYPES.flatMap((type) => [jump(EQUAL, type, 0, 1), ret(ALLOW)]),
      DENY,
    ]),
    ...checkArgument(CALL.ioctl, 1, [
      ...TERMINAL_INPUT.flatMap((request) => [jump(EQUAL, request, 0, 1), DENY]),
      ret(ALLOW),
    ]),
    ...[CALL.clone, CALL.unshare].flatMap((call) =>
      checkArgument(call, 0, [jump(ANY_BIT, CLONE_NEWUSER, 0, 1), DENY, ret(ALLOW)]),
    ),
    // A filter cannot read the flags of clone3, which are in memory. After ENOSYS, every libc falls back to clone.
    jump(EQUAL, CALL.clone3, 0, 1),
    ret(errno(ENOSYS)),
    ...Object.entries(MODE_ARGUMENTS).flatMap(([call, index]) =>
      checkArgument(CALL[call as keyof typeof MODE_ARGUMENTS], index, DENY_SETUID),
    ),
    ...Object.entries(OPEN_ARGUMENTS).flatMap(([call, { flags, mode }]) =>
      checkArgument(CALL[call as keyof typeof OPEN_ARGUMENTS], flags, [
        jump(ANY_BIT, CREATES_FILE, 1, 0),
        ret(ALLOW),
        load(DATA.arguments + 8 * mode),
        ...DENY_SETUID,
      ]),
    ),
    // The mode of openat2 is also in memory. After ENOSYS, programs fall back to openat.
    jump(EQUAL, CALL.openat2, 0, 1),
    ret(errno(ENOSYS)),
    ...denied.flatMap((number) => [jump(EQUAL, number, 0, 1), DENY]),
    ret(ALLOW),
  ];
  return Buffer.concat(program);
}

const CALL = {
  socket: 41,
  socketpair: 53,
  ioctl: 16,
  clone: 56,
  unshare: 272,
  clone3: 435,
  chmod: 90,
  fchmod: 91,
  fchmodat: 268,
  fchmodat2: 452,
  mknod: 133,
  mknodat: 259,
  creat: 85,
  open: 2,
  openat: 257,
  openat2: 437,
} as const;

/** The index of the mode among the arguments. mkdir is missing because the kernel ignores the setuid bit there. */
const MODE_ARGUMENTS = {
  chmod: 1,
  fchmod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  mknod: 1,
  mknodat: 2,
  creat: 1,
} as const;

const OPEN_ARGUMENTS = { open: { flags: 1, mode: 2 }, openat: { flags: 2, mode: 3 } } as const;

/** O_CREAT, and the bit that only O_TMPFILE sets. Without either, the kernel ignores the mode, which can be garbage. */
const CREATES_FILE = 0o20_000_100;

/**
 * S_ISGID stays allowed: shared git repositories set it on directories, and a filter cannot tell a directory from a
 * file.
 */
const S_ISUID = 0o4000;

/** IPv4, IPv6 and netlink. Unix sockets and the families of hypervisors and hardware are denied. */
const SOCKET_FAMILIES = [2, 10, 16];

const AF_UNIX = 1;

/** The bits with the type of a socket. The other bits are flags: SOCK_NONBLOCK, SOCK_CLOEXEC. */
const SOCKET_TYPE_BITS = 0xf;

/**
 * SOCK_STREAM and SOCK_SEQPACKET: the two ends stay connected to each other. A datagram socket can send to any unix
 * socket by its path, and SOCK_RAW also creates a datagram socket.
 */
const PAIR_TYPES = [1, 5];

/** TIOCSTI and TIOCLINUX, which insert input into the person's terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];

const CLONE_NEWUSER = 0x1000_0000;

/** Calls that debuggers need. */
const TRACING = {
  ptrace: 101,
  process_vm_readv: 310,
  process_vm_writev: 311,
  kcmp: 312,
  pidfd_getfd: 438,
} as const;

const DENIED = {
  // Mounts and roots.
  mount: 165,
  umount2: 166,
  pivot_root: 155,
  chroot: 161,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  open_tree_attr: 467,
  setns: 308,
  open_by_handle_at: 304,
  // Calls that bypass the filter, or access the kernel's memory.
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  bpf: 321,
  perf_event_open: 298,
  userfaultfd: 323,
  init_module: 175,
  delete_module: 176,
  finit_module: 313,
  kexec_load: 246,
  kexec_file_load: 320,
  iopl: 172,
  ioperm: 173,
  lookup_dcookie: 212,
  // Keys belong to the user, not to the namespace.
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  // Settings of the machine.
  reboot: 169,
  swapon: 167,
  swapoff: 168,
  acct: 163,
  settimeofday: 164,
  clock_settime: 227,
  clock_adjtime: 305,
  adjtimex: 159,
  sethostname: 170,
  setdomainname: 171,
  syslog: 103,
  quotactl: 179,
  quotactl_fd: 443,
  fanotify_init: 300,
  vhangup: 153,
} as const;

const AUDIT_ARCH_X86_64 = 0xc000_003e;
const X32_BIT = 0x4000_0000;
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const EPERM = 1;
const ENOSYS = 38;
const DENY = ret(errno(EPERM));

/** Offsets in struct seccomp_data. */
const DATA = { number: 0, architecture: 4, arguments: 16 } as const;

/** BPF_JMP with BPF_JEQ, BPF_JGE and BPF_JSET. They compare with a constant. */
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;

/** Denies a call if the mode in the accumulator has the setuid bit. */
const DENY_SETUID = [jump(ANY_BIT, S_ISUID, 0, 1), DENY, ret(ALLOW)];

/**
 * For one call, loads the lower half of an argument, because the kernel reads these arguments as 32 bits. Every path of
 * the body must return, because the call number is no longer loaded.
 */
function checkArgument(call: number, index: number, body: readonly Buffer[]): Buffer[] {
  const inside = [load(DATA.arguments + 8 * index), ...body];
  return [jump(EQUAL, call, 0, inside.length), ...inside];
}

function errno(number: number): number {
  return 0x0005_0000 | number;
}

function load(offset: number): Buffer {
  return instruction(0x20, 0, 0, offset);
}

/** BPF_ALU with BPF_AND and a constant. */
function and(bits: number): Buffer {
  return instruction(0x54, 0, 0, bits);
}

function ret(value: number): Buffer {
  return instruction(0x06, 0, 0, value);
}

/** Skips `ifTrue` or `ifFalse` instructions. */
function jump(code: number, value: number, ifTrue: number, ifFalse: number): Buffer {
  return instruction(code, ifTrue, ifFalse, value);
}

/** struct sock_filter */
function instruction(code: number, jt: number, jf: number, k: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jt, 2);
  bytes.writeUInt8(jf, 3);
  bytes.writeUInt32LE(k >>> 0, 4);
  return bytes;
}
