// A shell as the subject of a diagnosis.
import type { ProcessScope } from "../engine/process-scope.ts";
import { keepsSandbox, type StartedShell } from "../engine/started-shell.ts";
import { EXCERPT_MAX_CHARS } from "../support/limits.ts";
import { shellQuote } from "../support/shell-quote.ts";
import type { DiagnosedCommand } from "./diagnosis.ts";
import type { OutputPart } from "./output-part.ts";

interface Subject {
  readonly started: StartedShell;
  readonly command: string;
  readonly startedAt: number;
  readonly outputParts: Readonly<Record<"stdout" | "stderr", OutputPart>>;
}

export function diagnosedShell(
  { started, command, startedAt, outputParts }: Subject,
  scope: Pick<ProcessScope, "processesOf">,
): DiagnosedCommand {
  const short = command.length > EXCERPT_MAX_CHARS ? `${command.slice(0, EXCERPT_MAX_CHARS)}…` : command;
  return {
    processes: async () => {
      const processes = (await scope.processesOf([started])).get(started) ?? [];
      return processes.filter(({ pid }) => !keepsSandbox(pid, started));
    },
    outputs: [outputParts.stdout, outputParts.stderr],
    startedAt,
    // nacre's bash reads the command from a file, whose path means nothing to the reader. So show the command instead.
    named: (line) => (line.endsWith(` ${started.files.command}`) ? `bash -c ${shellQuote(short)}` : line),
  };
}
