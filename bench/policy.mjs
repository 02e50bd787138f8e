// What one verdict costs on the corpus, and how long hostile text of a megabyte takes. Prints, never asserts.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { judge } from "../dist/policy.js";
import { ms, quantile } from "./measure.mjs";

const corpus = fileURLToPath(new URL("../../shared/corpus/commands.jsonl", import.meta.url));
const facts = { home: "/home/dev", cwd: "/home/dev/proj" };
const commands = existsSync(corpus)
  ? readFileSync(corpus, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).command)
  : [
      "ls -la",
      "git status && npm test",
      "rm -rf build",
      "find . -name '*.o' -delete",
      "curl -s https://x | jq .",
    ];

for (let round = 0; round < 3; round++) for (const command of commands) judge(command, facts);
const times = [];
for (let round = 0; round < 5; round++) {
  for (const command of commands) {
    const start = performance.now();
    judge(command, facts);
    times.push(performance.now() - start);
  }
}
console.log(
  `${commands.length} commands: median ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))}`,
);

const megabyte = (text) => text.repeat(Math.ceil(2 ** 20 / text.length));
const many = (line) => Array.from({ length: 80_000 }, (_, i) => line(i)).join("\n");
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
};
for (const [name, text] of Object.entries(large)) {
  const before = process.cpuUsage();
  const start = performance.now();
  const { verdict, rule } = judge(text, facts);
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  console.log(
    `${name.padEnd(22)} ${ms(wall).padStart(10)} (cpu ${ms((user + system) / 1000).padStart(10)})  ${verdict} ${rule ?? ""}`,
  );
}
