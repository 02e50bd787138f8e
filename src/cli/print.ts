// How commands print: remarks go to stderr after the program's name, data goes to stdout.
import type { Confinement } from "../engine/confinement.ts";
import type { CliIo } from "./cli-io.ts";

export function remark(io: CliIo, text: string): void {
  io.stderr.write(`nacre: ${text}\n`);
}

export function printJson(io: CliIo, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Warns about the parts of a requested sandbox or limit that are not enforced. */
export function warnNotEnforced(io: CliIo, confinement: Confinement | undefined): void {
  const missing = confinement?.notEnforced ?? [];
  if (missing.length > 0) remark(io, `not enforced: ${missing.join("; ")}`);
}
