// Warns which parts of a requested sandbox or limit are not enforced, where the user lets commands run without them.
import type { Confinement } from "../../engine/confinement.ts";
import type { CliIo } from "../cli-io.ts";

export function tellNotEnforced(io: CliIo, confinement: Confinement | undefined): void {
  const missing = confinement?.notEnforced ?? [];
  if (missing.length > 0) io.stderr.write(`nacre: not enforced: ${missing.join("; ")}\n`);
}
