// One host process of the soak: runs random operations until it is killed, or until its stdin ends. In that case it
// checks everything that nacre has acknowledged to it and to earlier agents of its scope. The last line on stdout is a
// JSON object with the results.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createToolkit } from "../../dist/index.js";
import { filesBelow } from "./census.mjs";
import { Journal } from "./journal.mjs";
import { Operations, unkilledShells } from "./operations.mjs";
import { randomFrom } from "./random.mjs";

const LOOPS = 3;
/** The longest wait that BashOutput accepts. */
const END_MAX_MS = 50_000;
const SAMPLE_MS = 2_000;
/** After nacre has removed shells for lack of space, the others still take up at least this part of the quota. */
const QUOTA_REACHED = 0.9;
/** How many shells may run at once, and so may end in a different order than they started. */
const OVERLAP_MAX_COUNT = 32;

const { stateRoot, work, journalFile, scope, seed, url, quotaBytes, tag } = JSON.parse(process.argv[2]);
const journal = new Journal(journalFile);
const random = randomFrom(seed);
const remoteTimes = { pingMs: 500, silentMaxMs: 5_000, lingerMs: 5_000, retryMaxMs: 300 };
const kit = await createToolkit({
  stateRoot,
  scope,
  workingDir: work,
  with: ["files", "terminals", "preview"],
  durable: true,
  quotaBytes,
  finishedMaxAgeSeconds: 24 * 3600,
});
const remote = await connected();
const operations = new Operations({ kit, remote, random, journal, work, tag });
const samples = [];
const counts = {};
let isEnding = false;
process.stdin.on("end", () => {
  isEnding = true;
});
process.stdin.resume();
console.log(JSON.stringify({ ready: true }));

const sampling = setInterval(() => {
  globalThis.gc();
  samples.push({ fds: readdirSync("/proc/self/fd").length, heap: process.memoryUsage().heapUsed });
}, SAMPLE_MS);
await Promise.all(Array.from({ length: LOOPS }, loop));
clearInterval(sampling);
const checked = await checkAcknowledged();
// Kill durable shells that a killed agent started without an entry in its journal, such as waiting terminals.
await kit.shells.killAll();
await remote?.dispose();
await kit.dispose();
const problems = journal.entries().flatMap(({ kind, text }) => (kind === "problem" ? [text] : []));
console.log(JSON.stringify({ problems, samples, counts, checked, refused: operations.refused }));
process.exit(0);

/** Writes the problem to the journal. If this agent is killed, the next one of its scope still reports it. */
function report(problem) {
  journal.write({ kind: "problem", text: `${scope} ${problem}` });
}

async function loop() {
  while (!isEnding) {
    const name = random.pick(
      remote === undefined ? Operations.NAMES.filter((one) => one !== "remote") : Operations.NAMES,
    );
    counts[name] = (counts[name] ?? 0) + 1;
    try {
      await operations[name]();
    } catch (error) {
      report(`${name}: ${error?.message ?? error}`);
    }
  }
}

/** Retries the first connection, because nacre does not restore that one if it is cut. */
async function connected() {
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      return await createToolkit({ remote: { url, ...remoteTimes }, policy: "off" });
    } catch (error) {
      if (attempt === 9) report(`cannot reach the remote end: ${error?.message}`);
    }
  }
  return undefined;
}

/**
 * Checks that every acknowledged shell has its whole output and its exit code, and every acknowledged file its content.
 * Only the quota may have removed shells, and only the oldest ones.
 */
async function checkAcknowledged() {
  const entries = journal.entries();
  const shells = unkilledShells(entries);
  const removed = [];
  for (const [position, shell] of shells.entries()) {
    try {
      if ((await checkShell(shell)) === "removed") removed.push(position);
    } catch (error) {
      report(error?.message ?? error);
    }
  }
  checkRemoved(removed);
  const files = new Map(entries.filter(({ kind }) => kind === "file").map((entry) => [entry.file, entry]));
  for (const { file } of entries.filter(({ kind }) => kind === "undoing")) files.delete(file);
  for (const { file, text, or } of files.values()) {
    const found = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    if (found !== text && found !== or)
      report(`${file} has ${JSON.stringify(found)}, not ${JSON.stringify(text)}`);
  }
  return { shells: shells.length - removed.length, files: files.size, removed: removed.length };
}

/** `positions`: the positions of the removed shells in the order of their starts. */
function checkRemoved(positions) {
  if (positions.length === 0) return;
  const folder = join(stateRoot, "shells");
  const bytes = filesBelow(folder).reduce((sum, file) => sum + file.diskBytes, 0);
  if (bytes < quotaBytes * QUOTA_REACHED)
    report(`lost ${positions.length} shells, although all shells need only ${bytes} of ${quotaBytes} bytes`);
  const last = positions.at(-1);
  if (last >= positions.length + OVERLAP_MAX_COUNT)
    report(`lost a shell before older ones: number ${last}, although only ${positions.length} are removed`);
}

/** Returns "removed" if nacre has removed the files of this shell and says so. Throws if anything was lost. */
async function checkShell({ id, token, code, lines }) {
  const ended = await kit.call("BashOutput", { bash_id: id, wait_for: "exit", wait_ms: END_MAX_MS });
  const dir = join(stateRoot, "shells", id);
  if (ended.code === "swept" && !existsSync(dir)) return "removed";
  const { status, exit_code } = ended.metadata;
  if (exit_code !== code)
    throw new Error(`${id} (${token}) is ${status} with ${exit_code}, not ${code}: ${ended.error}`);
  const expected = Array.from({ length: lines }, (_, index) => `${token}-${index}\n`).join("");
  const printed = readFileSync(join(dir, "out"), "utf8");
  if (printed !== expected)
    throw new Error(
      `${id} (${token}) has ${printed.length} bytes of output, not the ${expected.length} it printed`,
    );
  return "kept";
}
