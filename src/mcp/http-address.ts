// The address of the HTTP server: a port on the loopback interface only, because every program that can reach the
// server can run commands.
import { NacreError } from "../support/errors.ts";

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

/** Reads PORT or HOST:PORT. */
export function readHttpAddress(text: string): HttpAddress {
  const [, host = "127.0.0.1", digits = ""] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) {
    throw new NacreError("invalid_input", "It must be a port from 0 (any free port) to 65535.");
  }
  const address = LOOPBACK[host];
  if (address === undefined) {
    throw new NacreError(
      "invalid_input",
      `The server listens on this machine only (127.0.0.1, localhost or [::1]), not on ${host}. To reach it from elsewhere, forward the port: ssh -L ${port}:127.0.0.1:${port} HOST`,
    );
  }
  return { host: address, port };
}

const LOOPBACK: Readonly<Record<string, string>> = {
  "127.0.0.1": "127.0.0.1",
  localhost: "127.0.0.1",
  "[::1]": "::1",
};
