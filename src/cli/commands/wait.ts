// `nacre wait`: waits until a shell ends or prints a line.
import { describeOutcome } from "../../shell/outcome.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { patternOf } from "../pattern-option.ts";
import { printJson, remark } from "../print.ts";

export interface WaitOptions {
  readonly id: string;
  readonly for?: string;
  readonly timeout?: number;
  readonly json?: boolean;
}

export async function waitForShell(io: CliIo, options: WaitOptions): Promise<number> {
  const { id, timeout, json = false } = options;
  const manager = readOnlyManager();
  const pattern = await patternOf(options.for, "--for");
  const shell = shellById(manager, id);
  const result = await shell.waitUntil(pattern ? { pattern } : { exit: true }, timeout);
  const line = result.kind === "matched" ? result.line : undefined;
  if (json) {
    const { status, exitCode: exit_code, durationMs: duration_ms } = shell;
    const found = line === undefined ? {} : { line };
    printJson(io, { bash_id: shell.id, result: result.kind, ...found, status, exit_code, duration_ms });
  } else if (line !== undefined) io.stdout.write(`${line}\n`);
  const report = (text: string) => json || remark(io, `${shell.id} ${text}`);
  switch (result.kind) {
    case "matched":
      return EXIT.ok;
    case "expired":
      report(`is still running after ${timeout}ms`);
      return EXIT.timedOut;
    case "ended":
      report(`${describeOutcome(result.outcome)}${pattern ? " before the line appeared" : ""}`);
      // Without the line, the wait failed, even if the command succeeded.
      return pattern ? EXIT.failed : (shell.exitCode ?? EXIT.failed);
  }
}
