// What is wrong with a start, said before anything is started.
import { NacreError } from "../support/errors.ts";

export function checkCommand(command: string): void {
  const offset = command.indexOf("\0");
  if (offset >= 0) {
    throw new NacreError(
      "invalid_input",
      `The command contains a NUL character at offset ${offset}; bash cannot read it.`,
    );
  }
}

/** A timer takes whatever is no time for the shortest there is. */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && Number.isFinite(timeoutMs))) return;
  throw new NacreError(
    "invalid_input",
    `The option timeoutMs must be milliseconds above 0, or none; it is ${timeoutMs}.`,
  );
}

/** bash takes these from its environment before it could be told what to run. */
export function checkSettable(env: Readonly<Record<string, string>>): void {
  const name = ["SHELLOPTS", "BASHOPTS"].find((name) => name in env);
  if (name) {
    const instead = name === "SHELLOPTS" ? "set -o" : "shopt -s";
    throw new NacreError(
      "invalid_input",
      `${name} cannot be set from outside; put \`${instead} …\` into the command.`,
    );
  }
}
