// `nacre mcp`: serves the tools on stdin and stdout until the client goes or a signal comes.
// First, or it has no effect.
import "../../mcp/zod-without-jit.ts";
import { serveMcp } from "../../mcp/serve-mcp.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { Dialect, OnTimeout, Policy } from "../option.ts";
import { packageVersion } from "../package-version.ts";

export interface ServeOptions {
  readonly dialect: Dialect;
  readonly policy: Policy;
  readonly policyFile?: string;
  readonly onTimeout: OnTimeout;
  readonly scope?: string;
  readonly session?: string;
  readonly durable?: boolean;
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export async function serve(io: CliIo, options: ServeOptions): Promise<number> {
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of SIGNALS) process.on(signal, end);
  const logLevel = process.env["NACRE_LOG"];
  try {
    const { stdin, stdout, stderr, cwd } = io;
    await serveMcp(
      {
        ...options,
        workingDir: cwd,
        version: packageVersion(),
        ...(logLevel === undefined ? {} : { logLevel }),
      },
      { stdin, stdout, stderr, signal: ending.signal },
    );
    return EXIT.ok;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    // An open stdin would keep the process alive.
    io.stdin.destroy();
  }
}
