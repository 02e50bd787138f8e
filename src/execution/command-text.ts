// Checks whether a text can be a bash command at all, before the policy reads it.
import { NacreError } from "../support/errors.ts";
import { excerpt } from "../support/excerpt.ts";
import { checkCommand } from "../support/start-checks.ts";

/** Throws if the text is not a bash command. */
export function checkIsCommand(command: string): void {
  checkIsText(command);
  if (command.trim() === "")
    throw new NacreError("invalid_input", "The command is blank: there is nothing to run.");
  if (isJson(command)) {
    throw new NacreError(
      "invalid_input",
      'The command is JSON, not bash. Give the command itself as a plain string, for example "ls -la"; for several, join them with && or newlines.',
    );
  }
  // Throws an error that names the position of the NUL.
  if (command.includes("\0")) checkCommand(command);
}

// The parameter is unknown because a JavaScript caller can pass anything.
function checkIsText(command: unknown): void {
  if (typeof command === "string") return;
  const instead = Array.isArray(command) ? LIST_HINT : "";
  throw new NacreError("invalid_input", `The command must be a string; it is ${excerpt(command)}.${instead}`);
}

const LIST_HINT = ` kit.sh\`ls \${args}\` quotes a list.`;

// Models sometimes pass a list of calls. No bash command is a JSON list or object.
function isJson(command: string): boolean {
  const text = command.trim();
  if (!/^[[{][\s\S]*[\]}]$/.test(text)) return false;
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
