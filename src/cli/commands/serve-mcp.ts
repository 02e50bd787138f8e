// `nacre mcp`: serves the tools on stdin and stdout until the client goes, or over HTTP on this machine; until a signal
// comes at the latest.
// First, or it has no effect.
import "../../mcp/zod-without-jit.ts";
import type { HttpAddress } from "../../mcp/http-address.ts";
import type { McpOptions } from "../../mcp/mcp-options.ts";
import { serveStdio } from "../../mcp/serve-stdio.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { DialectWord, OnTimeout, Policy } from "../option.ts";
import { packageVersion } from "../package-version.ts";
import { confineOptionsOf, type SandboxWords } from "../sandbox-words.ts";

export interface ServeOptions extends SandboxWords {
  readonly dialect: DialectWord;
  readonly policy: Policy;
  readonly policyFile?: string;
  readonly onTimeout?: OnTimeout;
  readonly scope?: string;
  readonly session?: string;
  readonly durable?: boolean;
  readonly http?: HttpAddress;
  /** False with --no-token. */
  readonly token?: boolean;
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export async function serve(io: CliIo, options: ServeOptions): Promise<number> {
  const { http, token, ...rest } = options;
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of SIGNALS) process.on(signal, end);
  const logLevel = process.env["NACRE_LOG"];
  const server: McpOptions = {
    ...rest,
    confine: confineOptionsOf(rest),
    workingDir: io.cwd,
    version: packageVersion(),
    ...(logLevel === undefined ? {} : { logLevel }),
  };
  try {
    if (http) await serveOverHttp(io, server, http, token !== false, ending.signal);
    else await serveStdio(server, { ...io, signal: ending.signal });
    return EXIT.ok;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    // Either would keep the process alive: an open stdin, and output (log lines on stderr, too) that nothing reads.
    io.stdin.destroy();
    io.abandonOutput?.();
  }
}

async function serveOverHttp(
  { stderr }: CliIo,
  options: McpOptions,
  address: HttpAddress,
  withToken: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { serveHttp } = await import("../../mcp/serve-http.ts");
  const { readTokens } = await import("../../mcp/http-guard.ts");
  const given = process.env["NACRE_MCP_TOKEN"];
  // It is this server's, and nothing that a command could have wanted.
  delete process.env["NACRE_MCP_TOKEN"];
  const tokens = withToken ? readTokens(given) : [];
  const onListening = (url: string) => {
    const say = (text: string) => stderr.write(`nacre mcp: ${text}\n`);
    say(`listening on ${url}`);
    if (!withToken) say("without a token: every user and program of this machine can run commands as you");
    else if (given === undefined) say(`clients send the header Authorization: Bearer ${tokens.join("")}`);
  };
  await serveHttp({ ...options, address, tokens }, { stderr, signal, onListening });
}
