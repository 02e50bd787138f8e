// Asks the person at the terminal whether a command may run. Every answer except y or yes means no.

import { createInterface } from "node:readline";
import { summaryLines } from "../preview/summarize-preview.ts";
import { shownPath } from "../support/path-text.ts";
import { printable } from "../support/printable.ts";
import type { ApprovalAnswer, ApprovalAsking, ApprovalRequest } from "../tool/context.ts";
import type { CliIo } from "./cli-io.ts";

export async function askPerson(
  io: CliIo,
  request: ApprovalRequest,
  { id, signal }: ApprovalAsking,
): Promise<ApprovalAnswer> {
  const lines = createInterface({ input: io.stdin, output: io.stderr });
  const close = () => {
    io.stderr.write(`\nThe request ${printable(String(signal.reason))}.\n`);
    lines.close();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    return await new Promise<ApprovalAnswer>((resolve) => {
      // End-of-file and Ctrl-C close the interface without an answer.
      lines.once("close", () => resolve({ allow: false, by: BY }));
      lines.question(formatApproval(request, id), (answer) =>
        resolve({ allow: /^y(es)?$/i.test(answer.trim()), by: BY }),
      );
    });
  } finally {
    signal.removeEventListener("abort", close);
    lines.close();
  }
}

/** Where the answer came from. */
const BY = "terminal";

function formatApproval(request: ApprovalRequest, id: string): string {
  const { command, rule, reason, alternative, cwd, background, preview } = request;
  const effects = preview ? `${summaryLines(preview).map(printable).join("\n")}\n` : "";
  const instead = alternative === undefined ? "" : `Instead: ${printable(alternative)}\n`;
  const where = `in ${printable(shownPath(cwd))}${background ? ", in the background" : ""}`;
  return `${printable(command)}\n${where}\n${printable(reason)} (rule ${rule})\n${instead}${effects}Elsewhere: nacre approve ${id}\nRun it? [y/N] `;
}
