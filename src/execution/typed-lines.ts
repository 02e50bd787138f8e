// Judges lines that are typed at an idle shell prompt, in addition to the approval of the terminal or its sandbox. Text
// that was typed without Enter is kept, so that a line in parts is judged as a whole, and so are the lines of a command that
// is not complete yet: a loop, a quote, a line that ends with a backslash. History, completion and editing inside the line
// are not followed: the approval of the terminal covers them.
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { programOf } from "../engine/process-table.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { attempt } from "../support/attempt.ts";
import { TERMINAL_LINE_MAX_CHARS } from "../support/limits.ts";
import type { WaitingState } from "../terminal/waiting.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { BashSyntaxError } from "./syntax-check.ts";

export interface TypedInput {
  readonly text: string;
  readonly keys: readonly string[];
}

interface Prompt {
  readonly pid: number;
  /** Its language is that of bash, or a part of it. */
  readonly isBourne: boolean;
  readonly cwd: string;
}

/** What was typed at a prompt and is not run yet: entered lines of an incomplete command, and the line after them. */
const unfinished = new WeakMap<
  ShellProcess,
  { readonly pid: number; readonly incomplete: string; readonly line: string }
>();

/**
 * Throws a refusal if the policy denies a line that this input completes, or a person refuses it. Call `typed` when the
 * input has been typed.
 */
export async function judgeTyped(
  shell: ShellProcess,
  input: TypedInput,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<{ readonly typed: () => void }> {
  const prompt = promptOf(await shell.needTerminal().state());
  if (!prompt) return { typed: () => unfinished.delete(shell) };
  const known = unfinished.get(shell);
  const before = known?.pid === prompt.pid ? known : { incomplete: "", line: "" };
  const { entered, rest } = linesOf(before.line, input);
  const { env: _, ...callContext } = context;
  const judging = async (command: string) => {
    const wanted = { command, background: true, session: null, cwd: prompt.cwd };
    (await admit(wanted, callContext, options)).use();
  };
  let { incomplete } = before;
  for (const [index, lines] of entered.entries()) {
    // Ctrl-C was pressed: the shell forgets an incomplete command.
    if (index > 0) incomplete = "";
    if (lines !== "") incomplete = await judgeLines(incomplete, lines, prompt.isBourne, judging);
  }
  return {
    typed: () => {
      if (rest === "" && incomplete === "") return void unfinished.delete(shell);
      const kept = (text: string) => text.slice(-TERMINAL_LINE_MAX_CHARS);
      unfinished.set(shell, { pid: prompt.pid, incomplete: kept(incomplete), line: kept(rest) });
    },
  };
}

/** Judges entered lines together with the incomplete command before them. Returns what is incomplete after them. */
async function judgeLines(
  before: string,
  lines: string,
  isBourne: boolean,
  judging: (command: string) => Promise<void>,
): Promise<string> {
  const whole = before + lines;
  if (whole.trim() === "") return "";
  if (await isReadable(whole, isBourne, judging)) return /(?<!\\)(?:\\\\)*\\\n$/.test(lines) ? whole : "";
  const single = lines.split(/(?<=\n)/);
  if (single.length === 1) {
    // Either the shell waits for the rest of the command, or it has rejected what came before: then this line runs alone.
    if (before !== "" && lines.trim() !== "") await isReadable(lines, isBourne, judging);
    return whole;
  }
  let incomplete = before;
  for (const line of single) incomplete = await judgeLines(incomplete, line, isBourne, judging);
  return incomplete;
}

/** False if bash cannot read the text, so that nothing of it runs yet. Other shells have other rules, so it is refused. */
async function isReadable(
  command: string,
  isBourne: boolean,
  judging: (command: string) => Promise<void>,
): Promise<boolean> {
  try {
    await judging(command);
    return true;
  } catch (error) {
    if (isBourne && error instanceof BashSyntaxError) return false;
    throw error;
  }
}

/** What Enter completes, in parts before and after each Ctrl-C, and what stays on the line. */
export function linesOf(before: string, { text, keys }: TypedInput): { entered: string[]; rest: string } {
  const entered = [""];
  let rest = before;
  for (const part of text.split(/([\x03\x15\x7f])/)) edit(part);
  for (const key of keys) edit(KEY_TEXT[key] ?? "");
  return { entered, rest };

  function edit(part: string): void {
    if (part === "\x03") entered.push("");
    if (part === "\x03" || part === "\x15") rest = "";
    else if (part === "\x7f") rest = [...rest].slice(0, -1).join("");
    else type(part);
  }

  function type(typed: string): void {
    const lines = `${rest}${typed.replaceAll(/\r\n?/g, "\n")}`.split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) entered[entered.length - 1] += `${lines.join("\n")}\n`;
  }
}

const KEY_TEXT: Readonly<Record<string, string>> = {
  ...{
    Enter: "\n",
    "Ctrl-J": "\n",
    "Ctrl-M": "\n",
    "Ctrl-O": "\n",
    "Ctrl-j": "\n",
    "Ctrl-m": "\n",
    "Ctrl-o": "\n",
  },
  ...{ Backspace: "\x7f", "Ctrl-H": "\x7f", "Ctrl-h": "\x7f" },
  ...{ "Ctrl-C": "\x03", "Ctrl-c": "\x03", "Ctrl-U": "\x15", "Ctrl-u": "\x15" },
};

const BOURNE = /^(?:bash|sh|dash|ash|ksh\w*|mksh|yash|busybox|rbash)$/;
const SHELLS = /^(?:bash|zsh|fish|sh|dash|ash|ksh\w*|mksh|yash|tcsh|csh|busybox|rbash)$/;

/** The shell that waits for a command; undefined if another program reads the terminal, or a script asks a question. */
function promptOf({ waiting, reader }: WaitingState): Prompt | undefined {
  if (!reader || waiting === "no" || waiting === "secret") return undefined;
  const program = basename(programOf(reader.pid) ?? "");
  if (!SHELLS.test(program)) return undefined;
  // A line editor reads keys. A shell without one reads lines, as a script's own question does.
  if (waiting === "line" && hasOperand(reader.pid)) return undefined;
  const cwd = attempt(() => readlinkSync(`/proc/${reader.pid}/cwd`));
  return cwd === undefined ? undefined : { pid: reader.pid, cwd, isBourne: BOURNE.test(program) };
}

/** Whether the shell was started for a script or a command, and not to read commands. */
function hasOperand(pid: number): boolean {
  const [, ...args] = (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "")
    .split("\0")
    .slice(0, -1);
  return args.some((arg) => !arg.startsWith("-") || /^-\w*c/.test(arg));
}
