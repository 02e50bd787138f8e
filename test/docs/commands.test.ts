// Every command that README and docs show is run: in blocks, in sentences and in tables. Blocks marked `console` show
// what comes out, too.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { useCli } from "../cli/run-nacre.ts";
import { noSandbox } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";
import { blocks, type Inline, inlines } from "./pages.ts";
import { readersEnvironment, type } from "./reader.ts";

const { dir } = useCli();

/** Said of a command in general; this is what is run in their place. */
const COMPLETED: Readonly<Record<string, string>> = {
  "nacre run": "nacre run true",
  "nacre check": "nacre check ls",
  "nacre run -b": "nacre run -b true",
  "nacre run --json": "nacre run --json true",
  "nacre run --policy off": "nacre run --policy off true",
};

/** What a reader puts there, by the words before it. */
const PLACEHOLDERS: readonly (readonly [RegExp, string])[] = [
  [/\bID\b/g, '"$ID"'],
  [/\bCLIENT\b/g, "claude-code"],
  [/\bNAME\b/g, "build"],
  [/(--policy-file) FILE\b/g, "$1 rules.json"],
  [/(audit verify) FILE\b/g, "$1 audit.jsonl"],
  [/'<command>'/g, "'ls'"],
  [/(--home) H\b/g, '$1 "$HOME"'],
  [/(--cwd) C\b/g, "$1 ."],
];

/** Options that the pages name and nacre does not have, or not as an option. */
const OTHERS: Readonly<Record<string, string>> = {
  "--args": "of bwrap",
  "--experimental-vm-modules": "of node",
  "--help": "every command has it",
  "--require": "of node",
  "--security-opt": "of docker",
  "-u": "of set",
  "-x": "of set",
};

const consoles = blocks.filter(({ language }) => language === "console");

test.each(consoles.map((block) => [`${block.file}: ${block.lines[0]}`, block] as const))(
  "what %s shows comes out",
  (_title, { lines }) => {
    const steps = stepsOf(lines);
    const outputs = type(
      dir(),
      steps.map(({ command }) => command),
    );
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

const shown = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ file, lines }) => lines.map((line) => ({ file, text: withoutRemark(line) })))
  .map(({ file, text }) => ({ file, text: text.replace(/^npm start -- /, "nacre ") }));
const all = [...shown, ...inlines].filter(({ text }) => /^nacre [a-z]/.test(text));
const servers = all.filter(({ text }) => text.includes(" --http "));

test("every command in blocks, sentences and tables runs and succeeds", ({ skip }) => {
  skip(noSandbox !== undefined && all.some(needsSandbox), noSandbox);
  const rule = { id: "no-touch", verdict: "deny", program: "touch", matches: "touch x" };
  writeFileSync(join(dir(), "rules.json"), JSON.stringify({ version: 1, rules: [rule] }));
  writeFileSync(join(dir(), "audit.jsonl"), "");
  const wanted = all.filter((one) => !servers.includes(one));
  expect(wanted.length).toBeGreaterThan(20);
  const commands = [
    ...new Set(wanted.flatMap(({ text }) => everyWay(text)).map((text) => COMPLETED[text] ?? text)),
  ].map(filled);
  // A shell of its own for each: one that is killed cannot be killed again.
  const typed = commands.map((command) =>
    command.includes("$ID") ? `ID=$(nacre run -b 'sleep 1000' 2>&-); ${command}` : command,
  );
  const outcomes = type(dir(), typed);
  expect(outcomes).toHaveLength(commands.length);
  for (const [index, { output, code }] of outcomes.entries()) {
    const command = commands[index] ?? "";
    // A verdict is an answer.
    const good = command.startsWith("nacre check ") ? [0, 3, 4] : [0];
    expect({ command, output, good: good.includes(code) }).toEqual({ command, output, good: true });
  }
});

test("what is put in the place of a command stands for one that the pages have", () => {
  const texts = all.flatMap(({ text }) => everyWay(text));
  for (const said of Object.keys(COMPLETED)) expect(texts).toContain(said);
  for (const [pattern] of PLACEHOLDERS)
    expect([pattern.source, texts.some((text) => text.search(pattern) >= 0)]).toEqual([pattern.source, true]);
});

test("the rules that the pages show can be used", () => {
  const shownRules = blocks.filter(
    ({ language, lines }) => language === "json" && lines.join().includes('"rules"'),
  );
  expect(shownRules.length).toBeGreaterThan(0);
  for (const { lines } of shownRules) {
    writeFileSync(join(dir(), "rules.json"), lines.join("\n"));
    const [seen] = type(dir(), ["nacre check --policy-file rules.json 'git push origin main'"]);
    expect(seen).toMatchObject({ code: 4, output: expect.stringContaining("(rule no-main-push)") });
  }
});

test("a server over HTTP says where it listens, as the page shows, and ends when it is told to", async () => {
  expect(servers.length).toBeGreaterThan(0);
  const page = blocks.find(({ lines }) => lines[0]?.startsWith("$ nacre mcp --http "));
  const [first = "", ...lines] = page?.lines ?? [];
  for (const text of [first.slice(2), ...servers.map((one) => one.text)]) {
    const child = spawn("bash", ["--norc", "-c", `exec ${text.replace(/(--http) \S+/, "$1 0")}`], {
      cwd: dir(),
      env: readersEnvironment(dir()),
      stdio: ["ignore", "inherit", "pipe"],
    });
    const said = collected(child);
    const expected = lines.map((line) => line.replaceAll(/:\d{4}\//g, ":…/").replace(/\S+…$/, "…"));
    await eventually(() => expect(said()).toMatch(patternOf(expected)));
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  }
});

test("every option that the pages name is one of nacre's", () => {
  const known = new Set(
    [createProgram({ io: {} as never, words: [], done: () => {} })]
      .flatMap((program) => [program, ...program.commands])
      .flatMap((command) => command.options)
      .flatMap(({ long, short }) => [long, short]),
  );
  const named = inlines.flatMap(({ file, text }) => {
    const [, option] = /^(--?[a-z][a-z-]*)(?: |$)/.exec(text) ?? [];
    return option === undefined ? [] : [{ file, option }];
  });
  expect(named.length).toBeGreaterThan(30);
  const unknown = named.filter(({ option }) => !known.has(option)).map(({ option }) => option);
  expect([...new Set(unknown)].sort()).toEqual(Object.keys(OTHERS).sort());
});

interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

function stepsOf(lines: readonly string[]): Step[] {
  const steps: { command: string; shown: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), shown: [] });
    else steps.at(-1)?.shown.push(line);
  }
  return steps;
}

/** `…` is anything; alone on a line, any number of lines. Widths of columns do not matter. */
function patternOf(lines: readonly string[]): RegExp {
  const patterns = lines.map((line) => {
    if (line === "…") return "(?:.*\\n)*";
    const parts = line
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ {2,}/g, "\\s+"));
    return `${parts.join(".*")}\\n`;
  });
  return new RegExp(`^${patterns.join("")}$`);
}

function withoutRemark(line: string): string {
  return line.replace(/\s+#.*$/, "").trim();
}

/** What is in [brackets] may be left out: once without, once with. */
function everyWay(text: string): string[] {
  const optional = /\s*\[(--[^\]]+)\]/g;
  return text.search(optional) < 0 ? [text] : [text.replace(optional, ""), text.replace(optional, " $1")];
}

function filled(command: string): string {
  return PLACEHOLDERS.reduce((text, [pattern, instead]) => text.replace(pattern, instead), command);
}

function needsSandbox({ text }: Inline): boolean {
  return text.includes("--sandbox");
}

function collected({ stderr }: ChildProcess): () => string {
  let text = "";
  stderr?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}
