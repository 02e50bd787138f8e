// Hands this process to runCli.
import { runCli } from "./cli.ts";
import { processIo } from "./process-io.ts";

export async function start(): Promise<void> {
  // Whoever reads our output may leave early (`nacre ps | head -1`): that is no reason for a stack trace.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});

  process.exitCode = await runCli(process.argv.slice(2), processIo());
}
