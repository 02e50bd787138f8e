// Asks the person at the terminal whether a command may run. Every answer except y or yes means no.
import { createInterface } from "node:readline";
import { shownPath } from "../support/path-text.ts";
import type { ApprovalRequest } from "../tool/context.ts";
import type { CliIo } from "./cli-io.ts";
import { printable } from "./printable.ts";

export async function askPerson(io: CliIo, request: ApprovalRequest): Promise<boolean> {
  const lines = createInterface({ input: io.stdin, output: io.stderr });
  try {
    return await new Promise<boolean>((resolve) => {
      // End-of-file and Ctrl-C close the interface without an answer.
      lines.once("close", () => resolve(false));
      lines.question(formatApproval(request), (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
    });
  } finally {
    lines.close();
  }
}

function formatApproval({ command, rule, reason, alternative, cwd, background }: ApprovalRequest): string {
  const instead = alternative === undefined ? "" : `Instead: ${printable(alternative)}\n`;
  const where = `in ${printable(shownPath(cwd))}${background ? ", in the background" : ""}`;
  return `${printable(command)}\n${where}\n${printable(reason)} (rule ${rule})\n${instead}Run it? [y/N] `;
}
