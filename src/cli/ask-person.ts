// Asks the person at the terminal whether a command may run. Anything but yes is no.
import { createInterface } from "node:readline";
import { shownPath } from "../support/path-text.ts";
import type { ApprovalRequest } from "../tool/context.ts";
import type { CliIo } from "./cli-io.ts";
import { printable } from "./printable.ts";

export async function askPerson(io: CliIo, request: ApprovalRequest): Promise<boolean> {
  const { command, rule, reason, alternative, cwd, background } = request;
  const instead = alternative === undefined ? "" : `Instead: ${printable(alternative)}\n`;
  const where = `in ${printable(shownPath(cwd))}${background ? ", in the background" : ""}`;
  const question = `${printable(command)}\n${where}\n${printable(reason)} (rule ${rule})\n${instead}Run it? [y/N] `;
  const lines = createInterface({ input: io.stdin, output: io.stderr });
  try {
    return await new Promise<boolean>((resolve) => {
      // End-of-file and Ctrl-C close it without an answer.
      lines.once("close", () => resolve(false));
      lines.question(question, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
    });
  } finally {
    lines.close();
  }
}
