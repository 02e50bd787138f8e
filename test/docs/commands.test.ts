// Runs every nacre command in README.md and docs: in blocks, sentences and tables. Blocks marked `console` also show the
// output, which must match.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { useCli } from "../cli/run-nacre.ts";
import { noSandbox } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";
import { blocks, type Inline, inlines } from "./pages.ts";
import { READER_MAX_MS, readersEnvironment, type } from "./reader.ts";

const { dir } = useCli();

/** Commands that the pages name without arguments. The value is the command to run instead. */
const COMPLETED: Readonly<Record<string, string>> = {
  "nacre run": "nacre run true",
  "nacre check": "nacre check ls",
  "nacre approve": "nacre approve ID",
  "nacre deny": "nacre deny ID",
  "nacre run -b": "nacre run -b true",
  "nacre run --json": "nacre run --json true",
  // Uses another directory, because the current one contains the state directory.
  "nacre run --preview": "nacre run --preview --cwd sub true",
  "nacre run --policy off": "nacre run --policy off true",
  // `nacre attach` needs a terminal, which these commands do not have; test/cli/terminals.test.ts tests it.
  "nacre attach ID": "nacre attach --help",
  // These need docker, kubectl or squeue; test/remote/fleet-command.test.ts tests them.
  "nacre fleet ls": "nacre fleet --help",
  "nacre fleet clean": "nacre fleet --help",
  "nacre send": "nacre send ID",
};

/** Values for the placeholders that the pages use. */
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

/** Options on the pages that belong to other programs, or to every command. */
const OTHERS: Readonly<Record<string, string>> = {
  "--args": "of bwrap",
  "--config": "of other programs that the policy judges",
  "--experimental-vm-modules": "of node",
  "--help": "every command has it",
  "--log-file": "of other programs that the policy judges",
  "--output": "of other programs that the policy judges",
  "--prefix": "of npm",
  "--security-opt": "of docker",
  "-o": "of other programs that the policy judges",
  "-u": "of set",
};

const consoles = blocks.filter(({ language }) => language === "console");

test.each(consoles.map((block) => [`${block.file}: ${block.lines[0]}`, block] as const))(
  "%s prints what the page shows",
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
  .flatMap(({ file, lines }) => lines.map((line) => ({ file, text: withoutComment(line) })))
  .map(({ file, text }) => ({ file, text: text.replace(/^npm start -- /, "nacre ") }));
const all = [...shown, ...inlines].filter(({ text }) => /^nacre [a-z]/.test(text));
const servers = all.filter(({ text }) => text.includes(" --http "));
const pages = all.filter(({ text }) => text.startsWith("nacre ui"));

test("every command in blocks, sentences and tables succeeds", { timeout: READER_MAX_MS }, ({ skip }) => {
  skip(noSandbox !== undefined && all.some(needsSandbox), noSandbox);
  const rule = { id: "no-touch", verdict: "deny", program: "touch", matches: "touch x" };
  writeFileSync(join(dir(), "rules.json"), JSON.stringify({ version: 1, rules: [rule] }));
  writeFileSync(join(dir(), "audit.jsonl"), "");
  mkdirSync(join(dir(), "sub"));
  const wanted = all.filter((one) => !servers.includes(one) && !pages.includes(one));
  expect(wanted.length).toBeGreaterThan(20);
  const commands = [
    ...new Set(wanted.flatMap(({ text }) => bothForms(text)).map((text) => COMPLETED[text] ?? text)),
  ].map(filled);
  // Each command gets its own shell, because a killed shell cannot be killed again.
  const typed = commands.map((command) =>
    command.includes("$ID") ? `ID=$(${idFor(command)}); ${command}` : command,
  );
  const outcomes = type(dir(), typed);
  expect(outcomes).toHaveLength(commands.length);
  for (const [index, { output, code }] of outcomes.entries()) {
    const command = commands[index] ?? "";
    // Exit codes 3 and 4 are verdicts, not failures.
    const good = command.startsWith("nacre check ") ? [0, 3, 4] : [0];
    expect({ command, output, good: good.includes(code) }).toEqual({ command, output, good: true });
  }
});

test("every command in COMPLETED and every pattern in PLACEHOLDERS occurs on the pages", () => {
  const texts = all.flatMap(({ text }) => bothForms(text));
  for (const command of Object.keys(COMPLETED)) expect(texts).toContain(command);
  for (const [pattern] of PLACEHOLDERS)
    expect([pattern.source, texts.some((text) => text.search(pattern) >= 0)]).toEqual([pattern.source, true]);
});

test("the rule files on the pages are valid", () => {
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

test("an HTTP server prints its address as the page shows, and ends on SIGTERM", async () => {
  expect(servers.length).toBeGreaterThan(0);
  const page = blocks.find(({ lines }) => lines[0]?.startsWith("$ nacre mcp --http "));
  const [first = "", ...lines] = page?.lines ?? [];
  for (const text of [first.slice(2), ...servers.map((one) => one.text)]) {
    const child = spawn("bash", ["--norc", "-c", `exec ${text.replace(/(--http) \S+/, "$1 0")}`], {
      cwd: dir(),
      env: readersEnvironment(dir()),
      stdio: ["ignore", "inherit", "pipe"],
    });
    const printed = collected(child);
    const expected = lines.map((line) => line.replaceAll(/:\d{4}\//g, ":…/").replace(/\S+…$/, "…"));
    await eventually(() => expect(printed()).toMatch(patternOf(expected)));
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  }
});

test("nacre ui prints its address and its file, and ends on SIGTERM", async () => {
  expect(pages.length).toBeGreaterThan(0);
  for (const text of new Set(pages.map((one) => one.text))) {
    const child = spawn(
      "bash",
      ["--norc", "-c", `exec ${text.replace(/--port \S+/, "")} --port 0 --no-open 1>&2`],
      {
        cwd: dir(),
        env: readersEnvironment(dir()),
        stdio: ["ignore", "inherit", "pipe"],
      },
    );
    const printed = collected(child);
    await eventually(() => expect(printed()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\n\/.*\.html\n$/));
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  }
});

test("every option on the pages is an option of nacre", () => {
  const known = new Set(
    [createProgram({ io: {} as never, args: [], done: () => {} })]
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

/** `…` matches any text. Alone on a line, it matches any number of lines. Two spaces match any white space. */
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

function withoutComment(line: string): string {
  return line.replace(/\s+#.*$/, "").trim();
}

/** Both forms of a command with an optional part in [brackets]: without and with it. */
function bothForms(text: string): string[] {
  const optional = /\s*\[(--[^\]]+)\]/g;
  return text.search(optional) < 0 ? [text] : [text.replace(optional, ""), text.replace(optional, " $1")];
}

function filled(command: string): string {
  return PLACEHOLDERS.reduce((text, [pattern, instead]) => text.replace(pattern, instead), command);
}

/** Returns a line of bash that prints the id that a command needs: of a shell, a request or a remembered answer. */
function idFor(command: string): string {
  // Otherwise an answer that an earlier command remembered would answer the request.
  const forget = `for r in $(nacre approvals --remembered --json | grep -o 'rem_[0-9a-f]*'); do nacre forget $r; done >&2`;
  // Use a new command each time. If an earlier request for the same command is approved and unused, the command runs.
  const request = `${forget}; nacre run --json "git push -f r$RANDOM" 2>&- | grep -o 'ask_[0-9a-f]*' | head -n 1`;
  if (/^nacre (approve|deny) /.test(command)) return request;
  if (command.startsWith("nacre send ")) return "nacre run -b --terminal --policy off 'cat' 2>&-";
  if (!command.startsWith("nacre forget ")) return "nacre run -b 'sleep 1000' 2>&-";
  return `nacre approve --json --remember workspace "$(${request})" | grep -o 'rem_[0-9a-f]*'`;
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
