// Judges lines that are typed at an idle shell prompt, in addition to the approval or the sandbox of the terminal.
// nacre stores text that was typed without Enter, and judges a line that was typed in parts as a whole. At a bash
// prompt, it also stores the lines of an incomplete command (a loop, a quote, a here-document). History, completion and
// editing within the line are not tracked: the approval of the terminal covers them.
//
//   judgeTyped -> linesOf      finds the lines that Enter completes
//              -> judgeLines   judges them after each text that bash may still be reading -> admit
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { programOf } from "../engine/process-table.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { TERMINAL_LINE_MAX_CHARS } from "../support/limits.ts";
import type { WaitingState } from "../terminal/waiting.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { scopeOf } from "./scope.ts";
import { BashSyntaxError, checkSyntax } from "./syntax-check.ts";

export interface TypedInput {
  readonly text: string;
  readonly keys: readonly string[];
}

interface Prompt {
  readonly pid: number;
  readonly isBash: boolean;
  readonly cwd: string;
}

/** Entered lines of a command that may not be complete. */
interface Pending {
  readonly text: string;
  /**
   * False if bash either waits for the rest of the command or has rejected the text: nacre cannot distinguish the two
   * cases.
   */
  readonly isReadable: boolean;
}

/** "open": bash can read the text, but waits for another line that belongs to it. */
type Reading = "complete" | "open" | "unreadable";

/**
 * Text that was typed at a prompt and has not run yet. `pending` contains each text that bash may be reading, the
 * longest first.
 */
const unfinished = new WeakMap<
  ShellProcess,
  { readonly pid: number; readonly pending: readonly Pending[]; readonly line: string }
>();

/**
 * Throws a refusal if this input completes a line that the policy denies or a person refuses. The caller calls `typed`
 * after typing the input.
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
  const before = known?.pid === prompt.pid ? known : { pending: [], line: "" };
  const { entered, rest } = linesOf(before.line, input);
  const read = (command: string) => judgeText(command, prompt, context, options);
  let { pending } = before;
  for (const [index, lines] of entered.entries()) {
    // Ctrl-C was pressed, so the shell discards an incomplete command.
    if (index > 0) pending = [];
    if (lines !== "") pending = await judgeLines(pending, lines, read);
  }
  const keptChars = pending.reduce((sum, { text }) => sum + text.length, rest.length);
  if (keptChars > TERMINAL_LINE_MAX_CHARS) throw tooLong();
  return {
    typed: () => {
      if (rest === "" && pending.length === 0) unfinished.delete(shell);
      else unfinished.set(shell, { pid: prompt.pid, pending, line: rest });
    },
  };
}

/**
 * Judges entered lines together with each text that bash may be reading. Returns what bash may be reading afterwards.
 */
async function judgeLines(
  pending: readonly Pending[],
  lines: string,
  read: (command: string) => Promise<Reading>,
): Promise<readonly Pending[]> {
  const [oldest, ...others] = pending;
  const whole = `${oldest?.text ?? ""}${lines}`;
  if (whole.trim() === "") return [];
  const reading = await read(whole);
  const single = lines.split(/(?<=\n)/);
  if (reading === "unreadable" && single.length > 1) {
    let left = pending;
    for (const line of single) left = await judgeLines(left, line, read);
    return left;
  }
  const left = [{ text: whole, isReadable: reading === "open" }];
  if (oldest?.isReadable === false) {
    // bash may have rejected the text up to the end of any of its lines. Then bash reads only the lines after that
    // line.
    for (const before of [...others.map(({ text }) => text), ""]) {
      const text = before + lines;
      const suffix = text.trim() === "" ? "complete" : await read(text);
      if (suffix !== "complete") left.push({ text, isReadable: suffix === "open" });
    }
  }
  if (reading === "complete") return [];
  return reading === "open" ? left.slice(0, 1) : left;
}

/**
 * Throws a refusal if the command may not run. If bash cannot read a text, bash runs no part of it. Another shell may
 * run a part: it can treat `[[` as a program and run the text before it. So if bash cannot read a text, nacre types it
 * only at a bash prompt.
 */
async function judgeText(
  command: string,
  { isBash, cwd }: Prompt,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<Reading> {
  const { env: _, ...callContext } = context;
  const isReadable = async (check: () => Promise<unknown>) => {
    try {
      await check();
      return true;
    } catch (error) {
      if (isBash && error instanceof BashSyntaxError) return false;
      throw error;
    }
  };
  const judged = async () =>
    (await admit({ command, background: true, session: null, cwd }, callContext, options)).use();
  if (!(await isReadable(judged))) return "unreadable";
  if (/(?<!\\)(?:\\\\)*\\\n$/.test(command)) return "open";
  if (!isBash || !command.includes("<<")) return "complete";
  // Check the command with a parenthesis added. After a complete command, the parenthesis is a syntax error. If the
  // command ends inside a here-document, the parenthesis is text.
  const place = { workingDir: context.workingDir, scope: scopeOf(context) };
  return (await isReadable(() => checkSyntax(`${command})`, place, options))) ? "open" : "complete";
}

function tooLong(): NacreError {
  return new NacreError(
    "limit_reached",
    `What was typed at this prompt and has not run yet is longer than ${TERMINAL_LINE_MAX_CHARS} characters: nacre cannot judge it as a whole. Nothing was typed now. Press Ctrl-C to discard the unfinished command, or write it to a file and run the file.`,
  );
}

/** The lines that Enter completes (split at each Ctrl-C), and the text that stays on the line. */
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

const BASH = /^r?bash$/;
const OTHER_SHELLS = /^(?:zsh|fish|sh|dash|ash|ksh\w*|mksh|yash|tcsh|csh|busybox)$/;

/**
 * The shell that waits for a command. undefined if another program reads the terminal, or if a script asks a question.
 */
function promptOf({ waiting, reader }: WaitingState): Prompt | undefined {
  if (!reader || waiting === "no" || waiting === "secret") return undefined;
  const program = basename(programOf(reader.pid) ?? "");
  const isBash = BASH.test(program);
  if (!isBash && !OTHER_SHELLS.test(program)) return undefined;
  // A shell with a line editor reads keys. A shell without a line editor reads lines, as does a script that asks a
  // question.
  if (waiting === "line" && hasOperand(reader.pid)) return undefined;
  const cwd = attempt(() => readlinkSync(`/proc/${reader.pid}/cwd`));
  return cwd === undefined ? undefined : { pid: reader.pid, cwd, isBash };
}

/** Whether the shell was started to run a script or a command rather than to read commands. */
function hasOperand(pid: number): boolean {
  const [, ...args] = (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "")
    .split("\0")
    .slice(0, -1);
  return args.some((arg) => !arg.startsWith("-") || /^-\w*c/.test(arg));
}
