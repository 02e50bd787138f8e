// `nacre doctor`: prints the checkup of this machine.
import { type CheckupFinding, checkup, summary } from "../checkup.ts";
import type { CliIo } from "../cli-io.ts";
import { type Colors, colorsFor } from "../colors.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../print.ts";

export interface DoctorOptions {
  readonly json?: boolean;
}

export async function examine(io: CliIo, { json = false }: DoctorOptions): Promise<number> {
  const colors = colorsFor(io);
  const findings: CheckupFinding[] = [];
  for await (const finding of checkup(io.cwd)) {
    findings.push(finding);
    if (!json) io.stdout.write(formatFinding(finding, colors));
  }
  const healthy = findings.every(({ status }) => status !== "failed");
  if (json) printJson(io, { ok: healthy, checks: findings });
  else io.stdout.write(`\n${summary(findings)}\n`);
  return healthy ? EXIT.ok : EXIT.failed;
}

function formatFinding({ name, status, detail, fix }: CheckupFinding, colors: Colors): string {
  const color = { ok: colors.green, limited: colors.yellow, failed: colors.red }[status];
  const line = `${color(status.padEnd(7))}  ${name.padEnd(10)}  ${detail}\n`;
  return fix === undefined ? line : `${line}${" ".repeat(21)}fix: ${fix}\n`;
}
