// Judges lines that are typed at an idle shell prompt, in addition to the approval of the terminal or its sandbox. Text
// that was typed without Enter is kept, so that a line in parts is judged as a whole. History, completion and editing
// inside the line are not followed: the approval of the terminal covers them.
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

export interface TypedInput {
  readonly text: string;
  readonly keys: readonly string[];
}

interface Prompt {
  readonly pid: number;
  readonly cwd: string;
}

/** The unfinished line at a prompt. */
const unfinished = new WeakMap<ShellProcess, { readonly pid: number; readonly line: string }>();

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
  const { entered, rest } = linesOf(known?.pid === prompt.pid ? known.line : "", input);
  if (entered.trim() !== "") {
    const { env: _, ...callContext } = context;
    const wanted = { command: entered, background: true, session: null, cwd: prompt.cwd };
    (await admit(wanted, callContext, options)).use();
  }
  return {
    typed: () => {
      if (rest === "") unfinished.delete(shell);
      else unfinished.set(shell, { pid: prompt.pid, line: rest.slice(-TERMINAL_LINE_MAX_CHARS) });
    },
  };
}

/** What Enter completes, and what stays on the line. */
export function linesOf(before: string, { text, keys }: TypedInput): { entered: string; rest: string } {
  let entered = "";
  let rest = before;
  const type = (typed: string) => {
    const lines = `${rest}${typed.replaceAll(/\r\n?/g, "\n")}`.split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) entered += `${lines.join("\n")}\n`;
  };
  for (const part of text.split(/([\x03\x15\x7f])/)) edit(part);
  for (const key of keys) edit(KEY_TEXT[key] ?? "");
  return { entered, rest };

  function edit(part: string): void {
    if (part === "\x03" || part === "\x15") rest = "";
    else if (part === "\x7f") rest = [...rest].slice(0, -1).join("");
    else type(part);
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

const SHELLS = /^(?:bash|zsh|fish|sh|dash|ash|ksh\w*|mksh|yash|tcsh|csh|busybox|rbash)$/;

/** The shell that waits for a command; undefined if another program reads the terminal, or a script asks a question. */
function promptOf({ waiting, reader }: WaitingState): Prompt | undefined {
  if (!reader || waiting === "no" || waiting === "secret") return undefined;
  const program = basename(programOf(reader.pid) ?? "");
  if (!SHELLS.test(program)) return undefined;
  // A line editor reads keys. A shell without one reads lines, as a script's own question does.
  if (waiting === "line" && hasOperand(reader.pid)) return undefined;
  const cwd = attempt(() => readlinkSync(`/proc/${reader.pid}/cwd`));
  return cwd === undefined ? undefined : { pid: reader.pid, cwd };
}

/** Whether the shell was started for a script or a command, and not to read commands. */
function hasOperand(pid: number): boolean {
  const [, ...args] = (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "")
    .split("\0")
    .slice(0, -1);
  return args.some((arg) => !arg.startsWith("-") || /^-\w*c/.test(arg));
}
