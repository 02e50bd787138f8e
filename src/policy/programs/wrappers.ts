// Wrappers: programs that run a program named in their operands. forwarded.ts recognizes an unknown wrapper by a
// destructive command in its arguments.

import { effectsOn } from "./effect.ts";
import { named, printsSettings } from "./print-texts.ts";
import type { Program, ProgramFamily, Wrapper } from "./program-record.ts";
import { readOptions } from "./read-options.ts";

const wrapping = (values: string, wraps: Wrapper = {}): Program => ({ options: { values }, wraps });

const ARCHITECTURE = /^(x86_64|i\d86|linux\d\d|uname26|aarch64|arm\w*|amd64)$/;

/** Wrappers without options that take a value. */
const PLAIN_WRAPPERS = `builtin noglob nohup setsid unbuffer valgrind toybox coreutils dbus dbus-run-session dbus-launch arch
rlwrap eatmydata torsocks torify ts catchsegv ld.so rtk entr linux32 linux64 i386 x86_64 heaptrack dumb-init alacritty kitty
foot konsole gnome-terminal chronic ifne nocache`;

export const wrappers: ProgramFamily = {
  familiar: "command entr env exec hyperfine nohup screen su sudo time timeout watch",
  programs: {
    sudo: wrapping("-CDghpRrtTuU user group chdir host prompt chroot role type other-user close-from", {
      assigns: true,
      asks: "-lvkKVe version list edit",
      directory: "-D chdir",
    }),
    doas: wrapping("-uCa", { assigns: true }),
    pkexec: wrapping("user"),
    su: wrapping("-cgGsTw command shell group", { text: "-c command", skip: 1 }),
    runuser: wrapping("-cgGsuw command user group shell", { text: "-c command" }),
    sg: wrapping("-c", { text: "-c", skip: 1 }),
    env: wrapping("-uCSa unset chdir split-string argv0", {
      assigns: true,
      directory: "-C chdir",
      text: "-S split-string",
    }),
    command: {
      wraps: { asks: "-vV" },
      prints: { text: (called) => (/^-[vp]*v/.test(called.args[0]?.text ?? "") ? named(called) : null) },
    },
    exec: wrapping("-a"),
    nice: wrapping("-n adjustment"),
    ionice: wrapping("-cnpPu class classdata"),
    chrt: wrapping("-TPD", { skip: 1 }),
    numactl: wrapping("-NmCpi cpunodebind membind physcpubind interleave"),
    "timeout gtimeout": wrapping("-ks kill-after signal", { skip: 1 }),
    time: { options: { values: "-f format", writes: "-o output" }, wraps: {} },
    stdbuf: wrapping("-ioe input output error"),
    setpriv: wrapping("reuid regid groups inh-caps bounding-set ambient-caps securebits"),
    prlimit: wrapping("-op"),
    choom: wrapping("-np"),
    runcon: wrapping("-tulr"),
    strace: { options: { values: "-epsaEuPbIOSX", writes: "-o output" }, wraps: {} },
    ltrace: { options: { values: "-epsaulnAFxD", writes: "-o output" }, wraps: {} },
    perf: {
      options: { values: "-epCFcdD", writes: "-o output" },
      wraps: { verb: ["stat", "record", "trace"] },
    },
    rr: { wraps: { verb: ["record"] } },
    watch: wrapping("-nq interval equexit", { joins: "blanks" }),
    flock: wrapping("-wEc timeout wait conflict-exit-code command", { skip: 1, text: "-c command" }),
    script: {
      options: {
        values: "-cEotm command echo output-limit",
        writes: "-BIOT log-out log-in log-io log-timing",
      },
      effects: (_options, { args }) =>
        effectsOn(readOptions(args, { values: "-cEotmBIOT" }).operands.slice(0, 1), "write"),
      wraps: { text: "-c command", skip: 1 },
    },
    "systemd-run": wrapping(
      "-pMHGuEtd property unit description slice setenv working-directory uid gid nice on-calendar on-active",
      { directory: "working-directory" },
    ),
    "systemd-inhibit": wrapping("what who why mode"),
    "systemd-cat": wrapping("-tp"),
    busybox: { wraps: { asks: "list help install" } },
    ld: { options: { values: "-LlTe", writes: "-o output" }, wraps: { asks: "version" } },
    "ld-linux-x86-64.so.2": wrapping("library-path preload argv0"),
    "xvfb-run": wrapping("-nsfelpw"),
    caffeinate: wrapping("-tw"),
    "proxychains proxychains4": wrapping("-f"),
    "ssh-agent": { ...wrapping("-atEP"), prints: printsSettings(/^(-[sc])?$/) },
    cgexec: wrapping("-g"),
    setarch: { wraps: { may: ARCHITECTURE } },
    daemonize: wrapping("-acelopuE"),
    chpst: wrapping("-uUbemdofprct"),
    softlimit: wrapping("-dsmlafopcrt"),
    cpulimit: wrapping("-lpePm"),
    trickle: wrapping("-dusnlwLDt"),
    tini: wrapping("-pe"),
    sshpass: wrapping("-pfdP"),
    sem: wrapping("-j id jobs"),
    xterm: wrapping("-T"),
    wezterm: { wraps: { verb: ["start"] } },
    lockf: wrapping("-t", { skip: 1 }),
    daemon: wrapping("-nuDoOEFLXr"),
    pee: { wraps: { joins: "lines" } },
    hyperfine: wrapping("-wrmMpcsSPDLui", { joins: "lines" }),
    watchexec: wrapping("-ewfirsdo exts watch filter ignore", { joins: "blanks" }),
    "aws-vault": { wraps: { verb: ["exec"], skip: 1 } },
    op: wrapping("env-file account", { verb: ["run"] }),
    doppler: wrapping("-pc", { verb: ["run"] }),
    /** One operand precedes the inner program: a user, a file, a time. */
    "gosu su-exec taskset faketime setuidgid dtach abduco": { wraps: { skip: 1 } },
    logsave: { effects: ({ operands }) => effectsOn(operands.slice(0, 1), "write"), wraps: { skip: 1 } },
    [PLAIN_WRAPPERS]: { wraps: {} },
  },
};
