// Programs that run another program: what to skip until its argv begins. Anything that wraps and is not here is found
// by its dangerous tail (rules/forwarded.ts).

import { hasFlag, type OptionTable, readOptions, valuesOf } from "./argv.ts";
import type { AssignedValue, EffectiveCommand, Field } from "./command.ts";

export interface Peeled {
  readonly argv: readonly Field[];
  readonly assignments: readonly AssignedValue[];
  /** The directory the inner program starts in, if the wrapper sets one. */
  readonly directory: Field | null;
  /** Shell text that runs instead of an argv. */
  readonly text: Field | null;
}

interface Wrapper extends OptionTable {
  /** Operands before the inner argv: a duration, a lock file, a new root. */
  readonly skip?: number;
  /** `NAME=value` before the inner program. */
  readonly assigns?: boolean;
  /** Flags that make it a question instead of a call. */
  readonly asks?: readonly string[];
  /** Options that name the directory. */
  readonly directory?: readonly string[];
  /** Options whose value is shell text. */
  readonly text?: readonly string[];
  /** Whether the rest is given to a shell: joined by blanks, or each argument as a text of its own. */
  readonly joins?: "blanks" | "lines";
  /** Only with this first operand: `uv run`, `bundle exec`. */
  readonly verb?: readonly string[];
}

const PLAIN: Wrapper = {};

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    values: "CDghpRrtTuU",
    longValues: [
      "user",
      "group",
      "chdir",
      "host",
      "prompt",
      "chroot",
      "role",
      "type",
      "other-user",
      "close-from",
    ],
    assigns: true,
    asks: ["l", "v", "k", "K", "V", "version", "list", "e", "edit"],
    directory: ["D", "chdir"],
  },
  doas: { values: "uCa", assigns: true },
  pkexec: { longValues: ["user"] },
  gosu: { skip: 1 },
  "su-exec": { skip: 1 },
  su: { values: "cgGsTw", longValues: ["command", "shell", "group"], text: ["c", "command"], skip: 1 },
  runuser: { values: "cgGsuw", longValues: ["command", "user", "group", "shell"], text: ["c", "command"] },
  env: {
    values: "uCSa",
    longValues: ["unset", "chdir", "split-string", "argv0"],
    assigns: true,
    directory: ["C", "chdir"],
    text: ["S", "split-string"],
  },
  command: { asks: ["v", "V"] },
  builtin: PLAIN,
  exec: { values: "a" },
  noglob: PLAIN,
  nohup: PLAIN,
  nice: { values: "n", longValues: ["adjustment"] },
  ionice: { values: "cnpPu", longValues: ["class", "classdata"] },
  chrt: { values: "TPD", skip: 1 },
  taskset: { skip: 1 },
  numactl: { values: "NmCpi", longValues: ["cpunodebind", "membind", "physcpubind", "interleave"] },
  timeout: { values: "ks", longValues: ["kill-after", "signal"], skip: 1 },
  gtimeout: { values: "ks", longValues: ["kill-after", "signal"], skip: 1 },
  time: { values: "fo", longValues: ["format", "output"] },
  setsid: PLAIN,
  stdbuf: { values: "ioe", longValues: ["input", "output", "error"] },
  unbuffer: PLAIN,
  chroot: { longValues: ["userspec", "groups"], skip: 1 },
  fakeroot: { values: "lsib" },
  fakechroot: PLAIN,
  proot: { values: "rbwqRS" },
  unshare: { values: "RSGl", longValues: ["root", "wd", "setuid", "setgid", "map-user", "map-group"] },
  nsenter: { values: "tSG", longValues: ["target", "setuid", "setgid"] },
  setpriv: {
    longValues: ["reuid", "regid", "groups", "inh-caps", "bounding-set", "ambient-caps", "securebits"],
  },
  prlimit: { values: "op" },
  choom: { values: "np" },
  runcon: { values: "tulr" },
  firejail: PLAIN,
  strace: { values: "oepsaEuPbIOSX" },
  ltrace: { values: "oepsaulnAFxD" },
  valgrind: PLAIN,
  perf: { verb: ["stat", "record", "trace"], values: "eopCFcdD" },
  watch: { values: "nq", longValues: ["interval", "equexit"], joins: "blanks" },
  flock: {
    values: "wEc",
    longValues: ["timeout", "wait", "conflict-exit-code", "command"],
    skip: 1,
    text: ["c", "command"],
  },
  script: {
    values: "cEoBIOTtm",
    longValues: ["command", "log-out", "log-in", "log-io", "log-timing"],
    text: ["c", "command"],
    skip: 1,
  },
  "systemd-run": {
    values: "pMHGuEtd",
    longValues: [
      "property",
      "unit",
      "description",
      "slice",
      "setenv",
      "working-directory",
      "uid",
      "gid",
      "nice",
      "on-calendar",
      "on-active",
    ],
    directory: ["working-directory"],
  },
  "systemd-inhibit": { longValues: ["what", "who", "why", "mode"] },
  busybox: { asks: ["list", "help", "install"] },
  toybox: PLAIN,
  dbus: PLAIN,
  "dbus-run-session": PLAIN,
  "dbus-launch": PLAIN,
  "xvfb-run": { values: "nsfelpw" },
  caffeinate: { values: "tw" },
  arch: PLAIN,
  rlwrap: PLAIN,
  eatmydata: PLAIN,
  faketime: { skip: 1 },
  proxychains: { values: "f" },
  proxychains4: { values: "f" },
  torsocks: PLAIN,
  torify: PLAIN,
  "ssh-agent": { values: "atEP" },
  cgexec: { values: "g" },
  ts: PLAIN,
  catchsegv: PLAIN,
  ld: { asks: ["version"] },
  "ld.so": PLAIN,
  "ld-linux-x86-64.so.2": { longValues: ["library-path", "preload", "argv0"] },
  "cross-env": { assigns: true },
  "cross-env-shell": { assigns: true, joins: "blanks" },
  dotenv: { values: "efcvop", asks: ["help"] },
  direnv: { verb: ["exec"], skip: 1 },
  mise: { verb: ["exec", "x"] },
  uv: {
    verb: ["run"],
    longValues: ["with", "python", "extra", "group", "project", "directory", "env-file"],
    values: "pw",
  },
  poetry: { verb: ["run"] },
  pipenv: { verb: ["run"] },
  pdm: { verb: ["run"] },
  rye: { verb: ["run"] },
  hatch: { verb: ["run"] },
  conda: { verb: ["run"], values: "np" },
  bundle: { verb: ["exec"] },
  asdf: { verb: ["exec"] },
  rtk: PLAIN,
  entr: PLAIN,
  concurrently: { values: "nck", joins: "lines" },
  hyperfine: { values: "wrmMpcsSPDLui", joins: "lines" },
};

export function isWrapper(program: string): boolean {
  return Object.hasOwn(WRAPPERS, program);
}

/** What the wrapper would run, or null if it runs nothing. */
export function peel(command: EffectiveCommand): Peeled | null {
  const wrapper = Object.hasOwn(WRAPPERS, command.program) ? WRAPPERS[command.program] : undefined;
  if (!wrapper) return null;
  const verbless = afterVerb(command.args, wrapper);
  if (verbless === null) return null;
  // `env -` is `env -i`.
  const args = verbless[0]?.text === "-" ? verbless.slice(1) : verbless;
  const options = readOptions(args, { ...wrapper, stopAtOperand: true });
  if (wrapper.asks && hasFlag(options, ...wrapper.asks)) return null;
  const [directory = null] = wrapper.directory ? valuesOf(options, ...wrapper.directory) : [];
  const { assignments, rest } = takeAssignments(options.operands.slice(wrapper.skip ?? 0), wrapper);
  const text = textOf(command, wrapper, rest);
  if (text === null && rest.length === 0) return null;
  return { argv: text ? [] : rest, assignments, directory, text };
}

function afterVerb(args: readonly Field[], { verb }: Wrapper): readonly Field[] | null {
  if (!verb) return args;
  const at = args.findIndex(({ text }) => !text.startsWith("-"));
  return at >= 0 && verb.includes(args[at]?.text ?? "") ? args.slice(at + 1) : null;
}

function takeAssignments(rest: readonly Field[], { assigns }: Wrapper) {
  const count = assigns ? rest.findIndex(({ text }) => !/^\w+=/.test(text)) : 0;
  const end = count < 0 ? rest.length : count;
  const assignments = rest.slice(0, end).map(({ text, span }): AssignedValue => {
    const equal = text.indexOf("=");
    return { name: text.slice(0, equal), value: text.slice(equal + 1), span };
  });
  return { assignments, rest: rest.slice(end) };
}

/** Shell text: the value of an option, wherever it stands, or the joined rest. */
function textOf(command: EffectiveCommand, wrapper: Wrapper, rest: readonly Field[]): Field | null {
  if (wrapper.text) {
    const isEnv = command.program === "env";
    const [first] = valuesOf(
      readOptions(command.args, { ...wrapper, stopAtOperand: isEnv }),
      ...wrapper.text,
    );
    if (!first) return null;
    // `env -S` splits its value and then goes on with the arguments behind it.
    const tail = isEnv ? rest.map(({ text }) => ` ${quoted(text)}`).join("") : "";
    return { ...first, text: first.text + tail };
  }
  const [head] = rest;
  if (!wrapper.joins || !head) return null;
  return { ...head, text: rest.map(({ text }) => text).join(wrapper.joins === "blanks" ? " " : "\n") };
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
