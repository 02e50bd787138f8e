// A user who asked for a sandbox or limits, and lets commands run without, is told what does not hold.
import type { Confinement } from "../../spool/confinement.ts";
import type { CliIo } from "../cli-io.ts";

export function tellNotEnforced(io: CliIo, confinement: Confinement | undefined): void {
  const missing = confinement?.notEnforced ?? [];
  if (missing.length > 0) io.stderr.write(`nacre: not enforced: ${missing.join("; ")}\n`);
}
