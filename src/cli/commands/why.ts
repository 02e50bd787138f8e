// `nacre why`: shows what each process of a shell does or waits for.
import { type Diagnosis, doing, summaryOf } from "../../shell/diagnosis.ts";
import { PS_CELL_MAX_CHARS } from "../../support/limits.ts";
import { duration } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { oneLine } from "../columns.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { printJson } from "../print.ts";

export interface WhyOptions {
  readonly id: string;
  readonly json?: boolean;
}

export async function explainShell(io: CliIo, { id, json = false }: WhyOptions): Promise<number> {
  const shell = shellById(readOnlyManager(), id);
  const diagnosis = await shell.why();
  if (json) printJson(io, diagnosis);
  else io.stdout.write(textOf(shell.id, shell.status, diagnosis));
  return EXIT.ok;
}

function textOf(id: string, status: string, diagnosis: Diagnosis): string {
  const { processes, silent_ms } = diagnosis;
  const head = `${id} is ${status}; no output for ${duration(silent_ms)}.`;
  if (processes.length === 0) return `${head}\n${summaryOf(diagnosis)}\n`;
  const rows = processes.map((one) => {
    const ports = one.ports.length === 0 ? "" : ` Listens on ${one.ports.join(", ")}.`;
    return `  PID ${one.pid}  ${oneLine(one.command, PS_CELL_MAX_CHARS)}\n    ${doing(one)}. CPU ${one.cpu_ms} ms, ${one.cpu_last_second_ms} ms in the last second.${ports}`;
  });
  return `${[head, ...rows].join("\n")}\n`;
}
