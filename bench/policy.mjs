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
const hostile = {
  "flat script": megabyte("echo one ordinary line of a script\n"),
  "rm -rf /": megabyte("rm -rf /;"),
  "one-letter commands": megabyte("a;"),
  "nested substitutions": megabyte("$("),
  pipes: `cat${megabyte("|cat")}`,
  braces: `rm -rf ${megabyte("{a,b}")}`,
};
for (const [name, text] of Object.entries(hostile)) {
  const start = performance.now();
  const { verdict, rule } = judge(text, facts);
  console.log(`${name.padEnd(22)} ${ms(performance.now() - start).padStart(10)}  ${verdict} ${rule ?? ""}`);
}
