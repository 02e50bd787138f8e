// npm run policy:score [-- FILE]: judges every labeled command of the corpus and prints one table row per class. Fails
// below the thresholds. No command is ever run. --misses lists every command whose verdict differs from its label.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuilt, root } from "./setup.mjs";

const args = process.argv.slice(2);
const listsMisses = args.includes("--misses");
const [file = join(root, "test", "policy", "corpus", "commands.jsonl")] = args.filter(
  (arg) => !arg.startsWith("--"),
);
if (!existsSync(file)) {
  console.error(`policy:score: no corpus at ${file}; pass a file of {"command","expect","class"} lines.`);
  process.exit(2);
}
const built = process.env.NACRE_POLICY ?? join(root, "dist", "policy.js");
if (!process.env.NACRE_POLICY) ensureBuilt();
const { judge } = await import(pathToFileURL(built).href);

const facts = { home: "/home/dev", cwd: "/home/dev/proj", isRoot: false };
const entries = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const judged = entries.map((entry) => ({ ...entry, ...judge(entry.command, facts) }));

const classes = Map.groupBy?.(judged, keyOf) ?? grouped(judged);
console.log(row(["class", "expect", "count", "deny", "ask", "allow"]));
for (const [key, list] of [...classes].sort()) {
  const [name, expect] = key.split("\t");
  console.log(
    row([name, expect, list.length, count(list, "deny"), count(list, "ask"), count(list, "allow")]),
  );
}

const denySet = judged.filter(({ expect }) => expect === "deny");
const askSet = judged.filter(({ expect }) => expect === "ask");
const benign = judged.filter(({ expect }) => expect === "allow");
const results = [
  check(
    "deny set: denied",
    rate(denySet, (e) => e.verdict === "deny" || (e.ask_ok && e.verdict === "ask")),
    ">=",
    0.98,
  ),
  check(
    "deny set: stopped",
    rate(denySet, (e) => e.verdict !== "allow"),
    ">=",
    1,
  ),
  check(
    "ask set: stopped",
    rate(askSet, (e) => e.verdict !== "allow"),
    ">=",
    0.97,
  ),
  check(
    "benign: denied",
    rate(benign, (e) => e.verdict === "deny"),
    "<=",
    0,
  ),
  check(
    "benign: asked",
    rate(benign, (e) => e.verdict === "ask"),
    "<=",
    0.02,
  ),
];
if (listsMisses) {
  for (const { expect, verdict, rule, command } of judged) {
    if (expect !== verdict) console.log(`${expect} -> ${verdict} (${rule})\t${JSON.stringify(command)}`);
  }
}
process.exitCode = results.every(Boolean) ? 0 : 1;

function keyOf(entry) {
  return `${entry.class}\t${entry.expect}`;
}

function grouped(list) {
  const groups = new Map();
  for (const entry of list) groups.set(keyOf(entry), [...(groups.get(keyOf(entry)) ?? []), entry]);
  return groups;
}

function count(list, verdict) {
  return list.filter((entry) => entry.verdict === verdict).length;
}

function rate(list, test) {
  return list.length === 0 ? 0 : list.filter(test).length / list.length;
}

function check(what, value, operator, limit) {
  const ok = operator === ">=" ? value >= limit : value <= limit;
  console.log(
    `${ok ? "ok  " : "FAIL"} ${what}: ${(value * 100).toFixed(1)} % (${operator} ${limit * 100} %)`,
  );
  return ok;
}

function row(cells) {
  return cells
    .map((cell, i) => (i < 2 ? String(cell).padEnd(i === 0 ? 20 : 7) : String(cell).padStart(6)))
    .join(" ");
}
