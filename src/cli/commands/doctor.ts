// `nacre doctor`: what works on this machine, what does not, and what to do about it.
import { type CheckupFinding, checkup, summary } from "../checkup.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { type Paint, paintFor } from "../paint.ts";

export interface DoctorOptions {
  readonly json?: boolean;
}

export async function examine(io: CliIo, { json = false }: DoctorOptions): Promise<number> {
  const paint = paintFor(io);
  const findings: CheckupFinding[] = [];
  for await (const finding of checkup(io.cwd)) {
    findings.push(finding);
    if (!json) io.stdout.write(wordsFor(finding, paint));
  }
  const healthy = findings.every(({ status }) => status !== "failed");
  if (json) io.stdout.write(`${JSON.stringify({ ok: healthy, checks: findings })}\n`);
  else io.stdout.write(`\n${summary(findings)}\n`);
  return healthy ? EXIT.ok : EXIT.failed;
}

function wordsFor({ name, status, detail, fix }: CheckupFinding, paint: Paint): string {
  const colour = { ok: paint.green, limited: paint.yellow, failed: paint.red }[status];
  const line = `${colour(status.padEnd(7))}  ${name.padEnd(10)}  ${detail}\n`;
  return fix === undefined ? line : `${line}${" ".repeat(21)}fix: ${fix}\n`;
}
