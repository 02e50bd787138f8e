// `nacre --remote URL COMMAND …`: runs the command line at the remote end. Output, exit code and Ctrl-C pass through.
import { type RemoteLine, startRemoteLine } from "../../remote/client/remote-line.ts";
import { NacreError } from "../../support/errors.ts";
import type { CliIo } from "../cli-io.ts";
import { Interruption } from "../interruption.ts";
import { remark } from "../print.ts";
import type { RemoteCommandLine } from "../remote-command-line.ts";

/** Commands that work only on this machine or in this terminal. */
const LOCAL_ONLY = new Set([
  "serve",
  "fleet",
  "init",
  "ui",
  "attach",
  "tour",
  "complete",
  "completion",
  "audit",
]);

export async function runRemoteLine(io: CliIo, { url, args }: RemoteCommandLine): Promise<number> {
  const [command] = args;
  if (command === undefined || command.startsWith("-")) {
    throw new NacreError(
      "invalid_input",
      "After --remote URL there must be a command: nacre --remote URL run 'make test'.",
    );
  }
  if (LOCAL_ONLY.has(command)) {
    throw new NacreError(
      "invalid_input",
      `nacre ${command} works on this machine only: run it without --remote.`,
    );
  }
  let line: RemoteLine | undefined;
  // Listen before the client program starts: without a listener, a signal would end this process at once.
  using _interruption = new Interruption(io, (signal) => line?.signal(signal));
  line = startRemoteLine({ url }, args, io);
  const { exitCode, isCut, remark: text } = await line.ended;
  if (text !== undefined) remark(io, text);
  if (isCut) io.abandonOutput?.();
  return exitCode;
}
