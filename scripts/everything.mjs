// npm run long -- everything [--minutes N] [--seed N]: several agents use everything at once (tools, sessions, terminals,
// previews, files, approvals, links to remote ends), while this script kills their hosts, keepers, daemons and links at
// random. Then it checks that nothing is lost, left over or growing. Prints the seed first and one summary line last.
//
//   testEverything -> Soak.run: starts agents (everything/agent.mjs) -> kills at random -> ends them, which checks what they
//   acknowledged -> Soak.census: processes, zombies, mounts, sockets, files, growth
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  childrenOf,
  commandOf,
  filesBelow,
  hostTag,
  isStaleSocket,
  mountsBelow,
  processesOf,
  zombiesBelow,
} from "./everything/census.mjs";
import { growthOf } from "./everything/growth.mjs";
import { commandEnd, sshEnd } from "./everything/links.mjs";
import { randomFrom } from "./everything/random.mjs";
import { root } from "./setup.mjs";

const AGENTS = ["elder", "north", "south"];
const KILL_PAUSE_MS = [500, 2_500];
const END_MAX_MS = 300_000;
const GONE_MAX_MS = 60_000;
const QUOTA_BYTES = 256 * 1024 ** 2;
const PROBLEMS_SHOWN = 20;

export async function testEverything(args) {
  const { values } = parseArgs({ args, options: { minutes: { type: "string" }, seed: { type: "string" } } });
  const minutes = Number(values.minutes ?? 60);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
  if (!(minutes > 0) || !Number.isInteger(seed)) {
    console.error("long: --minutes takes a number above 0, and --seed a whole number.");
    return 2;
  }
  console.log(`everything: ${minutes} minutes, seed ${seed}`);
  // In the home directory, because a sandbox has its own /tmp.
  const base = mkdtempSync(join(homedir(), "nacre-everything-"));
  const soak = new Soak(base, seed);
  let isClean = false;
  try {
    await soak.run(minutes * 60_000);
    await soak.census();
    isClean = soak.problems.length === 0;
  } finally {
    await soak.stop();
    if (isClean) rmSync(base, { recursive: true, force: true });
    else console.log(`everything: the files of this run are in ${base}`);
  }
  for (const problem of soak.problems.slice(0, PROBLEMS_SHOWN)) console.log(`everything: ${problem}`);
  if (soak.problems.length > PROBLEMS_SHOWN)
    console.log(`everything: ${soak.problems.length - PROBLEMS_SHOWN} more`);
  console.log(soak.summary(minutes, seed));
  return soak.problems.length === 0 ? 0 : 1;
}

class Soak {
  problems = [];
  #base;
  #random;
  #ends = [];
  #agents = new Map();
  #tags = new Set();
  #kills = { host: 0, keeper: 0, daemon: 0, link: 0 };
  #reports = [];
  #lives = 0;
  #grown = { fds: 0, heap: 0 };
  #stateBytes = 0;

  constructor(base, seed) {
    this.#base = base;
    this.#random = randomFrom(seed);
    for (const name of ["work", "bin"]) mkdirSync(join(base, name));
  }

  #in(name) {
    return join(this.#base, name);
  }

  async run(forMs) {
    const ssh = await sshEnd(this.#in("ssh"), this.#in("bin"));
    this.#ends = [commandEnd(this.#in("command")), ...(ssh === undefined ? [] : [ssh])];
    await Promise.all(AGENTS.map((scope) => this.#start(scope)));
    const until = performance.now() + forMs;
    while (performance.now() < until) {
      await sleep(KILL_PAUSE_MS[0] + this.#random.below(KILL_PAUSE_MS[1] - KILL_PAUSE_MS[0]));
      await this.#killOne();
    }
    // A zombie among the descendants of a live host means that a keeper or shim does not reap its children.
    const elder = this.#agents.get("elder")?.child.pid ?? 0;
    await this.#eventually("zombies below the host", () => zombiesBelow(elder));
    this.#reports = await Promise.all(AGENTS.map((scope) => this.#end(scope)));
    for (const { problems } of this.#reports) this.problems.push(...problems);
  }

  async #start(scope) {
    const plan = {
      scope,
      tag: `${scope}${++this.#lives}`,
      stateRoot: this.#in("state"),
      work: this.#in("work"),
      journalFile: this.#in(`${scope}.journal`),
      seed: this.#random.seed(),
      quotaBytes: QUOTA_BYTES,
      url: this.#random.pick(this.#ends).url,
    };
    const argv = ["--expose-gc", join(root, "scripts/everything/agent.mjs"), JSON.stringify(plan)];
    const env = {
      PATH: `${this.#in("bin")}:${process.env.PATH}`,
      HOME: this.#base,
      NACRE_HOME: this.#in("state"),
    };
    const child = spawn(process.execPath, argv, {
      cwd: this.#in("work"),
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.on("error", () => {});
    const exited = once(child, "exit");
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const agent = { child, exited, lines };
    this.#agents.set(scope, agent);
    const { done } = await lines.next();
    if (done)
      this.problems.push(`the agent ${scope} ended during its start: ${JSON.stringify(await exited)}`);
  }

  async #killOne() {
    for (const scope of AGENTS) this.#recordTags(scope);
    const kind = this.#random.pick(["host", "keeper", "keeper", "link", "link", "daemon"]);
    if (kind === "host") {
      // Never kill the first agent: its samples show the growth over the whole run.
      const scope = this.#random.pick(AGENTS.slice(1));
      const { child, exited } = this.#agents.get(scope);
      child.kill("SIGKILL");
      await exited;
      this.#kills.host++;
      await this.#start(scope);
      return;
    }
    const remote = kind === "link" ? "links" : "daemons";
    const victims = kind === "keeper" ? this.#keepers() : this.#ends.flatMap((end) => end[remote]());
    const pid = this.#random.pick(victims);
    if (pid === undefined) return;
    try {
      process.kill(pid, "SIGKILL");
      this.#kills[kind]++;
    } catch {
      // The process has exited in the meantime.
    }
  }

  #recordTags(scope) {
    for (const keeper of this.#keepersOf(scope)) {
      const tag = hostTag(keeper);
      if (tag !== undefined) this.#tags.add(tag);
    }
  }

  #keepersOf(scope) {
    const pid = this.#agents.get(scope)?.child.pid ?? 0;
    return childrenOf(pid).filter((child) => commandOf(child).includes("keeper"));
  }

  #keepers() {
    return AGENTS.flatMap((scope) => this.#keepersOf(scope));
  }

  async #end(scope) {
    const { child, exited, lines } = this.#agents.get(scope);
    child.stdin.end();
    const late = sleep(END_MAX_MS, undefined, { ref: false });
    const line = await Promise.race([lines.next(), late]);
    if (line === undefined || line.done) {
      child.kill("SIGKILL");
      const outcome =
        line === undefined ? `did not end within ${END_MAX_MS} ms` : `ended: ${JSON.stringify(await exited)}`;
      return {
        problems: [`the agent ${scope} ${outcome}`],
        samples: [],
        counts: {},
        checked: { shells: 0, files: 0, removed: 0 },
        refused: 0,
      };
    }
    await exited;
    return JSON.parse(line.value);
  }

  async census() {
    const [elder] = this.#reports;
    this.#measureGrowth(elder);
    for (const end of this.#ends) await end.end();
    await this.#killDurable();
    await this.#eventually("processes left", () => processesOf(this.#base, this.#tags));
    await this.#eventually("mounts left", () => mountsBelow(this.#base));
    await this.#eventually("sockets left", () =>
      filesBelow(this.#base).flatMap(({ path, isSocket }) =>
        isSocket && !isStaleSocket(path) ? [path] : [],
      ),
    );
    for (const name of ["keepers", "previews/pending", "files/locks", "files/unfinished", "profiles"])
      await this.#eventually(`entries of state/${name} left`, () => this.#entriesOf(name));
    const stray = filesBelow(this.#in("work")).filter(
      ({ path, isDirectory }) => !isDirectory && !/\/(?:previews\/[^/]+\/file|files\/[^/]+\.txt)$/.test(path),
    );
    this.#expectNone(
      "stray files in the workspace",
      stray.map(({ path }) => path),
    );
    this.#stateBytes = filesBelow(this.#in("state")).reduce((sum, { bytes }) => sum + bytes, 0);
    if (this.#stateBytes > QUOTA_BYTES)
      this.problems.push(`the state root has ${this.#stateBytes} bytes, over its cap of ${QUOTA_BYTES}`);
  }

  /** Durable shells of a killed host keep running until another host adopts or kills them: that is their purpose. */
  async #killDurable() {
    const env = { PATH: process.env.PATH, HOME: this.#base, NACRE_HOME: this.#in("state") };
    const child = spawn(process.execPath, [join(root, "dist/cli/main.js"), "kill", "--all"], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = await once(child, "exit");
    if (code !== 0) this.problems.push(`nacre kill --all exited with ${code}`);
  }

  #entriesOf(name) {
    const folder = this.#in(`state/${name}`);
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  #measureGrowth(report) {
    const { fds, heap, problems } = growthOf(report);
    this.#grown = { fds, heap };
    this.problems.push(...problems);
  }

  async #eventually(what, find) {
    const until = performance.now() + GONE_MAX_MS;
    let found = find();
    while (found.length > 0 && performance.now() < until) {
      await sleep(200);
      found = find();
    }
    this.#expectNone(what, found);
  }

  #expectNone(what, found) {
    if (found.length > 0) this.problems.push(`${found.length} ${what}: ${found.slice(0, 5).join("; ")}`);
  }

  /** Ends what a failed run left running: the agents, the remote ends, durable shells. */
  async stop() {
    for (const { child } of this.#agents.values())
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    for (const end of this.#ends) await end.end();
    await this.#killDurable();
  }

  summary(minutes, seed) {
    const counts = {};
    for (const report of this.#reports)
      for (const [name, count] of Object.entries(report.counts)) counts[name] = (counts[name] ?? 0) + count;
    const sum = (get) => this.#reports.reduce((total, report) => total + get(report), 0);
    const operations = Object.values(counts).reduce((total, count) => total + count, 0);
    const kills = Object.entries(this.#kills).map(([name, count]) => `${count} ${name}`);
    const verdict =
      this.problems.length === 0
        ? "nothing lost, nothing left, nothing grown"
        : `${this.problems.length} problems`;
    return (
      `everything: ${verdict}; ${minutes} min, seed ${seed}, ${operations} operations of the last hosts, kills: ${kills.join(", ")}; ` +
      `checked ${sum(({ checked }) => checked.shells)} shells and ${sum(({ checked }) => checked.files)} files, ` +
      `${sum(({ checked }) => checked.removed)} shells removed by the quota, ${sum(({ refused }) => refused)} calls refused; fds ${signed(this.#grown.fds)}, heap ${signed(Math.round(this.#grown.heap / 1024))} KiB, ` +
      `state ${(this.#stateBytes / 1024 ** 2).toFixed(1)} of ${QUOTA_BYTES / 1024 ** 2} MiB`
    );
  }
}

function signed(number) {
  return number > 0 ? `+${number}` : String(number);
}
