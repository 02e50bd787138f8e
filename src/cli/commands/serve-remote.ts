// `nacre serve`: runs the daemon for remote clients. With --stdio, runs the relay between a link and the daemon.
// This import must come first to have an effect.
import "../../mcp/zod-without-jit.ts";
import { ownProgramFile } from "../../engine/own-build.ts";
import type { RunLine } from "../../remote/server/cli-endpoint.ts";
import { reportDaemonFailure, serveDaemon } from "../../remote/server/daemon.ts";
import { endpointFactory } from "../../remote/server/endpoints.ts";
import { relay } from "../../remote/server/relay.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";

export interface ServeRemoteOptions {
  /** Run the relay instead of the daemon. */
  readonly stdio?: boolean;
  /**
   * "exit": end when no client is left. A relay starts the daemon with this value, and starts another daemon when one
   * is needed.
   */
  readonly whenIdle?: "exit" | "stay";
  /** Runs the command lines of clients. */
  readonly runLine: RunLine;
}

export async function serveRemote(io: CliIo, options: ServeRemoteOptions): Promise<number> {
  const { stdio, whenIdle = "stay", runLine } = options;
  if (stdio) {
    const argv = [process.execPath, ownProgramFile(), "serve", "--when-idle", "exit"];
    const reached = await relay(io, argv);
    io.abandonOutput?.();
    return reached ? EXIT.ok : EXIT.failed;
  }
  const ending = new AbortController();
  using _interruption = new Interruption(io, () => ending.abort());
  try {
    await serveDaemon({
      createEndpoint: endpointFactory(runLine),
      signal: ending.signal,
      stays: whenIdle === "stay",
    });
    return EXIT.ok;
  } catch (error) {
    reportDaemonFailure(error);
    return EXIT.failed;
  }
}
