// Entry of the bundled program: runs the CLI with this process's arguments and streams.
import { systemCode } from "../support/system-error.ts";
import { runCli } from "./cli.ts";
import { exactArguments } from "./exact-arguments.ts";
import { EXIT } from "./exit-code.ts";
import { processIo } from "./process-io.ts";

export async function start(): Promise<void> {
  process.stdout.on("error", onOutputError);
  process.stderr.on("error", () => {});

  let isAbandoned = false;
  const io = processIo(() => {
    isAbandoned = true;
  });
  process.exitCode = await runCli(exactArguments(process.argv.slice(2)), io);
  // Pending writes to a client that does not read would keep the process alive.
  if (isAbandoned) process.exit();
}

/** A reader that closes the pipe early (`nacre ps | head -1`) is not a failure. A full disk is. */
function onOutputError(error: Error): void {
  if (systemCode(error) === "EPIPE") return;
  process.stderr.write(`nacre: The output could not be written: ${error.message}\n`);
  process.once("exit", () => {
    process.exitCode = EXIT.failed;
  });
}
