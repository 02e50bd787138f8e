// One command from call to output, through nacre and each peer. First each method runs in its own small host process,
// then all of them run in one host process of 2 GB. The order changes each round, so that noise and work left over from
// the previous command affect all methods equally.
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, shuffled, sleep, spread, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { absent, note, table, target } from "./shared/report.mjs";
import { RUNNERS, runnerTitle } from "./shared/runners.mjs";

const ROUNDS = amount(80, 2);
/** Expected output by command: a failed command must not count as fast. */
const PRINTED = {
  true: /^$|^\(no output\)$/,
  "echo hi": /^hi$/,
  ls: /\bfile19\b/,
  "git status": /nothing added|No commits/,
};
const COMMANDS = Object.keys(PRINTED);
const BALLAST_BLOCKS = amount(16, 1);
const GAP_MS = 3;

/** The memory of the large host. It is global, because a local variable would be garbage-collected. */
let ballast = [];

if (process.argv[2] === "host") await host(process.argv.slice(3));
else await driver();

/** Opens the requested runners and runs the requested commands. */
async function host([dir, blocks, ...names]) {
  const runners = {};
  // nacre's keepers start while the process is small, as in real hosts. Then the process allocates its memory.
  for (const name of names)
    runners[name] = await RUNNERS[name](dir, join(dir, "..", `state-${process.pid}-${names.indexOf(name)}`));
  ballast = Array.from({ length: Number(blocks) }, () => Buffer.alloc(128 * 1024 ** 2, 1));
  process.send({ names: names.filter((name) => runners[name]), rss: rssMib(), blocks: ballast.length });
  process.on("message", async ({ name, command }) => {
    if (name === undefined) return process.send({ rss: rssMib() });
    let output = "";
    const took = await timed(async () => {
      output = await runners[name].run(command);
    });
    process.send({ took, output });
  });
  process.once("disconnect", async () => {
    for (const runner of Object.values(runners)) await runner?.close();
    process.exit(0);
  });
}

function rssMib() {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024);
}

async function driver() {
  const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const dir = join(scratch, "repo");
  execFileSync("git", ["init", "-q", dir]);
  for (let i = 0; i < 20; i++) writeFileSync(join(dir, `file${i}`), "x");
  try {
    const names = Object.keys(RUNNERS);
    const small = await Promise.all(names.map((name) => open(dir, 0, [name])));
    const sizes = small.map(({ rss }) => rss).sort((a, b) => a - b);
    const inSmall = await measure(small, ROUNDS, Math.min(20, ROUNDS));
    await Promise.all(small.map(close));
    const large = [await open(dir, BALLAST_BLOCKS, names)];
    const inLarge = await measure(large, Math.ceil(ROUNDS / 5), 2);
    const rss = await checkedRss(large[0]);
    await Promise.all(large.map(close));
    showTables(`small hosts (${sizes[0]} to ${sizes.at(-1)} MB)`, inSmall);
    showTables(`a host of ${(rss / 1024).toFixed(1)} GB`, inLarge);
    reportTargets(inSmall, inLarge);
    note("just-bash simulates a shell and its commands in JavaScript: no program runs, and it has no git.");
    note("The sentinel session is the minimum that works at all; it gives none of nacre's guarantees.");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function open(dir, blocks, wanted) {
  const child = fork(fileURLToPath(import.meta.url), ["host", dir, String(blocks), ...wanted], {
    env: { ...process.env, BENCH_RESULT: "" },
  });
  const [{ names, rss }] = await once(child, "message");
  for (const name of wanted.filter((one) => !names.includes(one)))
    absent(runnerTitle(name), "it cannot be loaded on this machine");
  return { child, names, rss };
}

/** Throws if the memory of the large host shrank during the measurement. */
async function checkedRss({ child, rss }) {
  child.send({});
  const [{ rss: atEnd }] = await once(child, "message");
  if (atEnd < rss * 0.9)
    throw new Error(`the large host had ${rss} MB before the measurement and ${atEnd} MB after it`);
  return atEnd;
}

async function close({ child }) {
  const exited = once(child, "exit");
  child.disconnect();
  await exited;
}

/** Returns { [name]: { [command]: [ms...] } }. */
async function measure(hosts, rounds, warmUp) {
  const all = {};
  const methods = hosts.flatMap(({ child, names }) => names.map((name) => ({ child, name })));
  for (let round = -warmUp; round < rounds; round++) {
    for (const command of COMMANDS) {
      for (const { child, name } of shuffled(methods)) {
        if (name === "just-bash" && command === "git status") continue;
        await sleep(GAP_MS);
        const took = await ask(child, name, command);
        if (round >= 0) addSample(all, name, command, took);
      }
    }
  }
  return all;
}

async function ask(child, name, command) {
  child.send({ name, command });
  const [{ took, output }] = await once(child, "message");
  if (!PRINTED[command].test(output.trim())) throw new Error(`${name} answered ${command} with ${output}`);
  return took;
}

function addSample(all, name, command, took) {
  all[name] ??= {};
  all[name][command] ??= [];
  all[name][command].push(took);
}

function showTables(title, all) {
  const names = Object.keys(RUNNERS).filter((name) => all[name]);
  const ratio = (name, command) => {
    const times = all[name][command];
    return times === undefined ? "-" : `${(median(all.spawn[command]) / median(times)).toFixed(2)}x`;
  };
  table(
    `Speed relative to spawn("bash", ["-c", …]), in ${title}`,
    ["method", ...COMMANDS],
    names.map((name) => [runnerTitle(name), ...COMMANDS.map((command) => ratio(name, command))]),
  );
  table(
    `Milliseconds, median / p95, in ${title}`,
    ["method", ...COMMANDS],
    names.map((name) => [
      runnerTitle(name),
      ...COMMANDS.map((command) => (all[name][command] ? spread(all[name][command]) : "-")),
    ]),
  );
}

function reportTargets(inSmall, inLarge) {
  const faster = (all, command) => median(all.spawn[command]) / median(all["nacre session"][command]);
  for (const [command, atLeast] of [
    ["true", 5],
    ["echo hi", 5],
    ["ls", 1.8],
    ["git status", 1.5],
  ]) {
    target(
      `\`${command}\` in a session, speed relative to spawn`,
      faster(inSmall, command),
      { atLeast },
      "x",
    );
  }
  for (const command of ["true", "echo hi"]) {
    const grown = median(inLarge["nacre session"][command]) / median(inSmall["nacre session"][command]);
    target(`\`${command}\` in a session at 2 GB, time relative to a small host`, grown, { atMost: 1.5 }, "x");
  }
  const fresh = median(inSmall["nacre fresh shell"].true) / median(inSmall.spawn.true);
  target("`true` in a fresh shell, time relative to spawn", fresh, { atMost: 1.5 }, "x");
}
