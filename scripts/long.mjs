// npm run long -- NAME [ARGUMENTS]: tests that take too long for npm test, or need another user or another kernel.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { testCgroupV2 } from "./cgroup-v2.mjs";
import { testEverything } from "./everything.mjs";
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";
import { testUnprivileged } from "./unprivileged.mjs";

const RUNS = {
  soak: {
    usage: "[--commands N]",
    about:
      "50,000 mixed commands in one host, then long runs of one keeper and one session; with N, N commands only",
    run: soak,
  },
  fuzz: { usage: "[--cases N]", about: "random inputs for every parser, N cases each", run: fuzz },
  policy: {
    usage: "[--cases N]",
    about: "20,000 mutated commands through the policy, or N",
    run: (args) => fuzz(args, ["test/policy/fuzz.test.ts"]),
  },
  unprivileged: {
    usage: "[PATTERN...]",
    about: "as root: the engine's tests as a user without capabilities",
    run: testUnprivileged,
  },
  conformance: {
    usage: "",
    about: "the official MCP conformance suite against our transport code; installs it",
    run: (args) =>
      spawnSync(process.execPath, [join(root, "scripts/conformance.mjs"), ...args], { stdio: "inherit" })
        .status ?? 1,
  },
  everything: {
    usage: "[--minutes N] [--seed N]",
    about: "all features at once while hosts, keepers, daemons and links are killed; 60 minutes, or N",
    run: testEverything,
  },
  cgroups: { usage: "", about: "the limit tests on a kernel with cgroup v2 only", run: testCgroupV2 },
};

const [name = "", ...args] = process.argv.slice(2);
if (!Object.hasOwn(RUNS, name)) {
  const lines = Object.entries(RUNS).map(
    ([key, { usage, about }]) => `  npm run long -- ${`${key} ${usage}`.padEnd(36)} ${about}`,
  );
  console.error(`long: name one of these runs:\n${lines.join("\n")}`);
  process.exit(2);
}
ensureBuilt();
process.exit(await RUNS[name].run(args));

function soak(args) {
  const { commands } = parseArgs({ args, options: { commands: { type: "string" } } }).values;
  const count = numberOf("--commands", commands ?? "50000", 100);
  return runVitest({
    cwd: root,
    args: [commands === undefined ? "soak" : "test/faults/mixed-soak.test.ts"],
    env: { NACRE_LONG: "1", NACRE_SOAK_COMMANDS: String(count) },
  }).status;
}

function fuzz(args, files = ["fuzz"]) {
  const { cases } = parseArgs({ args, options: { cases: { type: "string" } } }).values;
  const env = cases === undefined ? {} : { NACRE_CASES: String(numberOf("--cases", cases, 1)) };
  // The cleanup after many cases takes long as well.
  const timeouts = ["--testTimeout=1800000", "--hookTimeout=300000"];
  return runVitest({ cwd: root, args: [...timeouts, ...files], env: { NACRE_LONG: "1", ...env } }).status;
}

function numberOf(option, text, min) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= min) return number;
  console.error(`long: ${option} takes a whole number of ${min} or more, not ${text}.`);
  process.exit(2);
}
