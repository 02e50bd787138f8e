// `nacre wait`: until a shell ends, or prints a line. Ends nothing.
import { describeOutcome } from "../../shell/outcome.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { lookAtShells, shellById } from "../look.ts";
import { patternOf } from "../pattern-option.ts";

export interface WaitOptions {
  readonly id: string;
  readonly for?: string;
  readonly timeout?: number;
  readonly json?: boolean;
}

export async function waitForShell(io: CliIo, options: WaitOptions): Promise<number> {
  const { id, timeout, json = false } = options;
  const manager = lookAtShells();
  const pattern = await patternOf(options.for, "--for");
  const shell = shellById(manager, id);
  const result = await shell.waitUntil(pattern ? { pattern } : { exit: true }, timeout);
  const line = result.kind === "matched" ? result.line : undefined;
  if (json) {
    const { status, exitCode: exit_code, durationMs: duration_ms } = shell;
    io.stdout.write(
      `${JSON.stringify({ bash_id: shell.id, result: result.kind, ...(line === undefined ? {} : { line }), status, exit_code, duration_ms })}\n`,
    );
  } else if (line !== undefined) io.stdout.write(`${line}\n`);
  const tell = (words: string) => json || io.stderr.write(`nacre: ${shell.id} ${words}\n`);
  switch (result.kind) {
    case "matched":
      return EXIT.ok;
    case "expired":
      tell(`is still running after ${timeout}ms`);
      return EXIT.timedOut;
    case "ended":
      tell(`${describeOutcome(result.outcome)}${pattern ? " before the line came" : ""}`);
      // The line that was waited for did not come, even if the command succeeded.
      return pattern ? EXIT.failed : (shell.exitCode ?? EXIT.failed);
  }
}
