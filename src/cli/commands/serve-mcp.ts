// `nacre mcp`: serves the tools over stdio until the client disconnects, or over HTTP on this machine. A signal ends
// the server.
// This import must come first to have an effect.
import "../../mcp/zod-without-jit.ts";
import type { HttpAddress } from "../../mcp/http-address.ts";
import type { McpOptions } from "../../mcp/mcp-options.ts";
import { serveStdio } from "../../mcp/serve-stdio.ts";
import { defined } from "../../support/defined.ts";
import type { ToolGroup } from "../../toolkit/toolkit-options.ts";
import type { CliIo } from "../cli-io.ts";
import { confineOptionsOf, type SandboxFlags } from "../definitions/define-sandbox.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import type { DialectName, OnTimeout, Policy } from "../option.ts";
import { packageVersion } from "../package-version.ts";

export interface ServeOptions extends SandboxFlags {
  readonly dialect: DialectName;
  readonly with?: readonly ToolGroup[];
  readonly policy: Policy;
  readonly policyFile?: string;
  readonly auditFile?: string;
  readonly onTimeout?: OnTimeout;
  readonly scope?: string;
  readonly session?: string;
  readonly durable?: boolean;
  readonly shellProfile?: "none" | "user";
  /** Milliseconds. */
  readonly approvalDeadline?: number;
  readonly remote?: string;
  readonly http?: HttpAddress;
  /** False with --no-token. */
  readonly token?: boolean;
}

/** Printed if a person starts the server in a terminal. */
const TERMINAL_HINT =
  "nacre mcp: waiting for an MCP client on stdin. Clients start this program themselves: `nacre init CLIENT` configures one. Ctrl-C ends the server.\n";

export async function serve(io: CliIo, options: ServeOptions): Promise<number> {
  const { http, token, remote, approvalDeadline, ...rest } = options;
  const ending = new AbortController();
  using _interruption = new Interruption(io, () => ending.abort());
  const logLevel = process.env["NACRE_LOG"];
  const server: McpOptions = {
    ...rest,
    confine: confineOptionsOf(rest),
    workingDir: io.cwd,
    version: packageVersion(),
    ...defined({ logLevel, approvalDeadlineMs: approvalDeadline }),
  };
  try {
    if (remote !== undefined) await serveRemoteMcp(io, remote, server, ending.signal);
    else if (http) await serveOverHttp(io, server, http, token !== false, ending.signal);
    else {
      if (io.interactive) io.stderr.write(TERMINAL_HINT);
      await serveStdio(server, { ...io, signal: ending.signal });
    }
    return EXIT.ok;
  } finally {
    // An open stdin, and output that nothing reads, would keep the process alive.
    io.stdin.destroy();
    io.abandonOutput?.();
  }
}

/** Commands run in the directory of the remote end. The options sent to the remote end include the user's own rules. */
async function serveRemoteMcp(
  io: CliIo,
  url: string,
  { workingDir: _, policyFile, auditFile, logLevel: __, ...options }: McpOptions,
  signal: AbortSignal,
): Promise<void> {
  const { proxyMcp } = await import("../../remote/client/mcp-proxy.ts");
  const { writtenRules } = await import("../../execution/policy-files.ts");
  const rules = writtenRules(policyFile);
  await proxyMcp({ url }, { ...options, rules }, { ...io, signal, ...defined({ auditFile }) });
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
  const configured = process.env["NACRE_MCP_TOKEN"];
  // Commands must not inherit the server's token.
  delete process.env["NACRE_MCP_TOKEN"];
  const tokens = withToken ? readTokens(configured) : [];
  const onListening = (url: string) => {
    const log = (text: string) => stderr.write(`nacre mcp: ${text}\n`);
    log(`listening on ${url}`);
    if (!withToken) log("without a token: every user and program of this machine can run commands as you");
    else if (configured === undefined)
      log(`clients send the header Authorization: Bearer ${tokens.join("")}`);
  };
  await serveHttp({ ...options, address, tokens }, { stderr, signal, onListening });
}
