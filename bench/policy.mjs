// Verdicts on the labeled commands of the corpus, and the time per verdict. Compares nacre with cc-safety-net and with
// nine regular expressions, such as a simple agent shell would use. Then measures the time for a megabyte of hostile
// text. No command is ever run.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { judge } from "../dist/policy.js";
import { median, quantile, shuffled, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { importPeer, peerTitle } from "./shared/peers.mjs";
import { note, table, target } from "./shared/report.mjs";

const corpus = fileURLToPath(new URL("../test/policy/corpus/commands.jsonl", import.meta.url));
/** The first two rounds warm up. */
const ROUNDS = amount(6, 3);
const TEXT_BYTES = amount(2 ** 20, 2 ** 16);
const LINES = amount(80_000, 5_000);
const facts = { home: "/home/dev", cwd: "/home/dev/proj" };
/** The nine patterns from the first design of this tool. */
const PATTERNS = [
  /rm\s+-rf\s+\/\s*$/,
  /rm\s+-rf\s+\/\*/,
  /mkfs\./,
  /dd\s+if=.+of=\/dev\/sd/,
  />\s*\/dev\/sd/,
  /chmod\s+-R\s+777\s+\/\s*$/,
  /:()\{\s*:\|:&\s*\};:/,
  /mv\s+\/\s+/,
  /chown\s+-R\s+.+\s+\/\s*$/,
];

const judges = [
  ["nacre", (command) => judge(command, facts).verdict],
  ["nine regular expressions", (command) => (PATTERNS.some((one) => one.test(command)) ? "deny" : "allow")],
];
// Give cc-safety-net a home and a project that exist, because it reads the disk.
const home = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const cwd = join(home, "proj");
mkdirSync(cwd);
process.env.HOME = home;
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
const safetyNet = await importPeer("cc-safety-net");
if (safetyNet) {
  const verdictOf = (command) =>
    safetyNet.checkCommand({ command: command.replaceAll(facts.home, home), cwd }).kind;
  judges.splice(1, 0, [peerTitle("cc-safety-net"), verdictOf]);
}

await score();
hostile();

async function score() {
  const entries = readFileSync(corpus, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const stopped = (verdictOf, expect) => {
    const labeled = entries.filter((entry) => entry.expect === expect);
    const verdicts = labeled.map(({ command }) => verdictOf(command));
    return `${((verdicts.filter((verdict) => verdict !== "allow").length / labeled.length) * 100).toFixed(1)} %`;
  };
  const rows = judges.map(([title, verdictOf]) => ({
    title,
    verdictOf,
    times: [],
    cells: ["deny", "ask", "allow"].map((expect) => stopped(verdictOf, expect)),
  }));
  // The policies alternate, so that noise affects all equally.
  for (let round = 0; round < ROUNDS; round++) {
    for (const { command } of entries) {
      for (const { verdictOf, times } of shuffled(rows)) {
        const took = await timed(() => verdictOf(command));
        if (round >= 2) times.push(took);
      }
    }
  }
  table(
    `${entries.length} labeled commands: the share that is stopped (deny or ask)`,
    ["policy", "of those to deny", "of those to ask", "of the harmless", "ms per command, median", "p99"],
    rows.map(({ title, times, cells }) => [
      title,
      ...cells,
      median(times).toFixed(3),
      quantile(times, 0.99).toFixed(3),
    ]),
  );
  note("The authors of nacre's rules knew these commands; the authors of the other policies did not.");
  note(
    "cc-safety-net denies or allows and never asks; if it denies a command that is labeled ask, that counts as stopped.",
  );
  target("time per verdict, median", median(rows[0].times), { atMost: 0.15 }, " ms");
  target("time per verdict, p99", quantile(rows[0].times, 0.99), { atMost: 3 }, " ms");
}

function hostile() {
  const megabyte = (text) => text.repeat(Math.ceil(TEXT_BYTES / text.length));
  const many = (line) => Array.from({ length: LINES }, (_, i) => line(i)).join("\n");
  const large = {
    "flat script": megabyte("echo one ordinary line of a script\n"),
    "rm -rf /": megabyte("rm -rf /;"),
    "one-letter commands": megabyte("a;"),
    "nested substitutions": megabyte("$("),
    "open quotes": megabyte(`"'`),
    pipes: `cat${megabyte("|cat")}`,
    braces: `rm -rf ${megabyte("{a,b}")}`,
    "open braces": `echo ${megabyte("{a,")}`,
    substitutions: many((i) => `x$(echo ${i})`),
    variables: many((i) => `x && v${i}=1`),
    functions: many((i) => `f${i}(){ :; }`),
    arguments: `rm -rf ${megabyte("a ")}`,
    options: `curl ${megabyte("-d@a ")}`,
    "nested shells": megabyte("bash -c 'ls';"),
    wrappers: megabyte("sudo a;"),
    searches: megabyte("find . -exec a {} +;"),
    fetches: megabyte("curl a|b;"),
    loops: megabyte("for i in a b; do c $i; done;"),
    interpreters: megabyte("python3 -c 'x';"),
    "unknown programs": `frob ${megabyte("/etc/a ")}`,
    "unknown paths": megabyte("frob /a/b ~/c ./d --out=/e;"),
    "clones and builds": megabyte("git clone x; make;"),
    "written recipes": megabyte("echo a>Makefile;make;"),
    "calls in code": megabyte('python3 -c \'open("/etc/x","w")\';'),
    exports: `export ${megabyte("a=b ")}; rm -rf $a`,
  };
  const rows = Object.entries(large).map(([name, text]) => {
    const before = process.cpuUsage();
    const { verdict, rule } = judge(text, facts);
    const { user, system } = process.cpuUsage(before);
    return [name, (user + system) / 1000, verdict, rule ?? ""];
  });
  table("A megabyte of hostile text", ["text", "ms of CPU", "verdict", "rule"], rows);
  target(
    "CPU time for the slowest megabyte",
    Math.max(...rows.map(([, ms]) => ms)),
    { atMost: 1_000 },
    " ms",
  );
}
