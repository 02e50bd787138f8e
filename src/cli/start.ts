// Hands this process to runCli.
import { systemCode } from "../support/system-error.ts";
import { runCli } from "./cli.ts";
import { exactWords } from "./exact-words.ts";
import { EXIT } from "./exit-code.ts";
import { processIo } from "./process-io.ts";

export async function start(): Promise<void> {
  process.stdout.on("error", onLostOutput);
  process.stderr.on("error", () => {});

  let isAbandoned = false;
  const io = processIo(() => {
    isAbandoned = true;
  });
  process.exitCode = await runCli(exactWords(process.argv.slice(2)), io);
  // Writes that wait for a reader would hold the process; nothing else ends them.
  if (isAbandoned) process.exit();
}

/** The reader of our output may leave early (`nacre ps | head -1`): that is no failure. A full disk is. */
function onLostOutput(error: Error): void {
  if (systemCode(error) === "EPIPE") return;
  process.stderr.write(`nacre: What was printed could not be written: ${error.message}\n`);
  process.once("exit", () => {
    process.exitCode = EXIT.failed;
  });
}
