// The waits of BashOutput: for a line, a port, a file, the end of the shell, or any new output.
import { describeOutcome } from "../shell/outcome.ts";
import { checkPort } from "../shell/readiness.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { describeWanted, missedLineCode, type WaitCondition, type WaitResult } from "../shell/wait-for.ts";
import { defined } from "../support/defined.ts";
import { type ErrorCode, NacreError } from "../support/errors.ts";
import { WAIT_DEFAULT_MS } from "../support/limits.ts";
import type { LinePattern } from "../text/filter.ts";
import { plainText } from "../text/terminal.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { readerOf } from "./scope.ts";
import { hasNew } from "./take-new.ts";

export interface WaitArguments {
  readonly wait_for?: string | undefined;
  readonly wait_for_port?: number | undefined;
  readonly wait_for_file?: string | undefined;
  readonly wait_ms?: number | undefined;
}

/** Throws if a call waits for two things, or if the port is invalid. */
export function checkWait(args: WaitArguments): void {
  const given = (["wait_for", "wait_for_port", "wait_for_file"] as const).filter(
    (name) => args[name] !== undefined,
  );
  if (given.length > 1) {
    const text = `${given.join(" and ")} exclude each other: a call waits for one thing. Make one call for each.`;
    throw new NacreError("invalid_input", text);
  }
  if (args.wait_for_port !== undefined) checkPort(args.wait_for_port);
}

/** Returns undefined if the call does not wait. */
export async function waitForOutput(
  shell: ShellProcess,
  args: WaitArguments,
  pattern: LinePattern | undefined,
  context: ExecutionContext,
): Promise<WaitResult | undefined> {
  if (!isNamed(args) && args.wait_ms === undefined) return undefined;
  const timeoutMs = args.wait_ms ?? WAIT_DEFAULT_MS;
  // In a terminal, do not wait for new lines: a prompt is not a complete line, so such a wait would miss it.
  if (shell.terminal && !isNamed(args)) {
    await shell.terminal.settle(timeoutMs, { signal: context.signal });
    return undefined;
  }
  const condition = conditionOf(shell, args, pattern, context);
  return await shell.waitUntil({ ...condition, ...defined({ signal: context.signal }) }, timeoutMs);
}

/** Whether the call says what it waits for. */
function isNamed({ wait_for, wait_for_port, wait_for_file }: WaitArguments): boolean {
  return wait_for !== undefined || wait_for_port !== undefined || wait_for_file !== undefined;
}

function conditionOf(
  shell: ShellProcess,
  { wait_for, wait_for_port: port, wait_for_file: file }: WaitArguments,
  pattern: LinePattern | undefined,
  context: ExecutionContext,
): WaitCondition {
  if (port !== undefined) return { port };
  if (file !== undefined) return { file };
  if (wait_for === "exit") return { exit: true };
  const reader = readerOf(context);
  const cursors = shell.cursors(reader);
  const from = { stdout: cursors.stdout.settle(), stderr: cursors.stderr.settle() };
  // Without a pattern or "exit", wait for any output that a read would return. An incomplete line does not count.
  const anything = { matches: () => hasNew(shell, reader) };
  const matcher = pattern ? { matches: (line: string) => pattern.matches(plainText(line)) } : anything;
  return { pattern: matcher, from };
}

/** What ended the wait, for the metadata. */
export function waitedFor(waited: WaitResult | undefined) {
  return waited && WAITED_FOR[waited.kind];
}

const WAITED_FOR = {
  matched: "pattern",
  listening: "port",
  unreachable: "port",
  exists: "file",
  ended: "exit",
  expired: "timeout",
} as const;

/** The error for a wait that can no longer succeed. */
export function missedWait(
  id: string,
  waited: WaitResult | undefined,
  args: WaitArguments,
): { readonly error: string; readonly code: ErrorCode } | undefined {
  if (waited?.kind === "unreachable") return { error: waited.remark, code: "unavailable" };
  if (waited?.kind !== "ended" || !isNamed(args) || args.wait_for === "exit") return undefined;
  const remark = waited.remark === undefined ? "" : `. ${waited.remark}`;
  const error = `Shell ${id} ${describeOutcome(waited.outcome)}, and ${missing(args)}${remark}`;
  return { error, code: missedLineCode(waited.outcome) };
}

/** The note for a wait that timed out. */
export function waitNote(waited: WaitResult | undefined, args: WaitArguments): string[] {
  if (waited?.kind !== "expired" || !isNamed(args)) return [];
  const what = missing(args);
  const sentence = what.charAt(0).toUpperCase() + what.slice(1);
  const remark = waited.remark === undefined ? "" : ` ${waited.remark}`;
  return [`${sentence} within ${args.wait_ms ?? WAIT_DEFAULT_MS}ms; it is still running.${remark}`];
}

function missing({ wait_for, wait_for_port: port, wait_for_file: file }: WaitArguments): string {
  if (port !== undefined) return `it does not listen on ${describeWanted({ port })}`;
  if (file !== undefined) return `${describeWanted({ file })} does not exist`;
  return wait_for === "exit" ? "it has not ended" : `no line matched ${JSON.stringify(wait_for)}`;
}
