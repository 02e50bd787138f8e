// Every command that README and docs show is run. Blocks marked `console` show what comes out, too.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { useCli } from "./cli/run-nacre.ts";
import { program } from "./mcp/mcp-clients.ts";

const { dir } = useCli();
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const files = ["README.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))];
const blocks = files.filter((file) => file.endsWith(".md")).flatMap(blocksOf);

interface Block {
  readonly file: string;
  readonly language: string;
  readonly lines: readonly string[];
}

interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

function blocksOf(file: string): Block[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => ({
    file,
    language,
    lines: body.trimEnd().split("\n"),
  }));
}

const consoles = blocks.filter(({ language }) => language === "console");

test.each(consoles.map((block) => [`${block.file}: ${block.lines[0]}`, block] as const))(
  "what %s shows comes out",
  (_title, { lines }) => {
    const steps = stepsOf(lines);
    const outputs = run(steps.map(({ command }) => command));
    for (const [index, { command, shown }] of steps.entries()) {
      const { output, code } = outputs[index] ?? { output: "not run", code: 2 };
      expect({ command, output, usage: code === 2 || code === 127 }).toEqual({
        command,
        output: shown.length === 0 ? expect.any(String) : expect.stringMatching(patternOf(shown)),
        usage: false,
      });
    }
  },
);

test("the commands of README run", () => {
  const lines = blocks
    .filter(({ language }) => language === "sh")
    .flatMap((block) => block.lines)
    .map((line) => line.replace(/\s+#.*$/, "").replace(/^npm start --/, "nacre"))
    .filter((line) => line.startsWith("nacre "));
  expect(lines.length).toBeGreaterThan(5);
  const commands = [
    "ID=$(nacre run -b 'sleep 1000')",
    ...lines.map((line) => line.replaceAll("ID", '"$ID"')),
  ];
  for (const [index, { output, code }] of run(commands).entries()) {
    // The command's own words are the reader's business (there may be no make); ours must make sense.
    expect({
      command: commands[index],
      usage: /^nacre: (unknown|missing|error|Shell not found)/m.test(output),
    }).toEqual({
      command: commands[index],
      usage: false,
    });
    expect(code).not.toBe(1);
  }
});

function stepsOf(lines: readonly string[]): Step[] {
  const steps: { command: string; shown: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), shown: [] });
    else steps.at(-1)?.shown.push(line);
  }
  return steps;
}

/** One bash for all of a block: variables carry over. */
function run(commands: readonly string[]): { output: string; code: number }[] {
  const mark = "=== done with";
  const script = commands.map((command) => `{ ${command}\n} 2>&1; printf '%s %s\\n' '${mark}' $?`).join("\n");
  const { stdout } = spawnSync(
    "bash",
    ["--norc", "-c", `nacre() { '${process.execPath}' '${program}' "$@"; }\n${script}`],
    {
      cwd: dir(),
      encoding: "utf8",
      timeout: 60_000,
      input: "",
      env: { PATH: process.env["PATH"], HOME: dir(), NACRE_HOME: join(dir(), "state") },
    },
  );
  return stdout
    .split(new RegExp(`${mark} (\\d+)\\n`))
    .reduce<{ output: string; code: number }[]>((done, piece, index, all) => {
      if (index % 2 === 0 && index + 1 < all.length)
        done.push({ output: piece, code: Number(all[index + 1]) });
      return done;
    }, []);
}

/** `…` is anything; alone on a line, any number of lines. Widths of columns do not matter. */
function patternOf(shown: readonly string[]): RegExp {
  const lines = shown.map((line) => {
    if (line === "…") return "(?:.*\\n)*";
    const parts = line
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ {2,}/g, "\\s+"));
    return `${parts.join(".*")}\\n`;
  });
  return new RegExp(`^${lines.join("")}$`);
}
