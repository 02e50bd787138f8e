// `nacre check --jsonl`: prints a verdict for each line of stdin, in order, and skips blank lines. For a line that is
// not a command, it prints an error object, so that input and output lines still correspond.
import { StringDecoder } from "node:string_decoder";
import { checkIsCommand } from "../../execution/command-text.ts";
import { DiskLinks } from "../../execution/disk-links.ts";
import { judge } from "../../policy/judge.ts";
import type { PolicyFacts } from "../../policy/verdict.ts";
import { messageOf } from "../../support/errors.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../print.ts";
import { type CheckOptions, factsOf, verdictWire } from "./check.ts";

export async function checkLines(
  io: CliIo,
  options: Pick<CheckOptions, "cwd" | "home" | "policy" | "policyFile">,
): Promise<number> {
  const facts = factsOf(io, options);
  let exitCode: number = EXIT.ok;
  for await (const line of linesOf(io.stdin)) {
    if (line.trim() === "") continue;
    const answer = answerTo(line, facts);
    if ("error" in answer) exitCode = EXIT.failed;
    printJson(io, answer);
  }
  return exitCode;
}

/** Splits at newlines only: readline would also split at U+2028, which a command can contain. */
async function* linesOf(input: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + (typeof chunk === "string" ? chunk : decoder.write(chunk))).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest + decoder.end();
}

function answerTo(
  line: string,
  facts: PolicyFacts,
): ReturnType<typeof verdictWire> | { readonly error: string } {
  const command = commandOf(line);
  if (command === undefined) return { error: 'Not a line like {"command": "ls"}' };
  try {
    checkIsCommand(command);
  } catch (error) {
    return { error: messageOf(error) };
  }
  // Read links again for each line, because they can change in between.
  return verdictWire(judge(command, { ...facts, links: new DiskLinks() }));
}

function commandOf(line: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("command" in value)) return undefined;
  return typeof value.command === "string" ? value.command : undefined;
}
