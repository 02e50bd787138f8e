// ssh://[user@]host[:port]: the user's own ssh with its configuration, keys and known hosts.
import { shellQuote } from "../../support/shell-quote.ts";
import type { Link, UrlParts } from "./link.ts";
import { badUrl, checkedPart, readCwd } from "./url-parts.ts";

// These patterns allow no character that has a special meaning in a shell, because a ProxyCommand passes %h and %r to a
// shell.
const HOST = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const ADDRESS = /^[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._-]+)?$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/;

export function sshLink(parts: UrlParts): Link {
  const { url, rest } = parts;
  const at = rest.lastIndexOf("@");
  const user = at < 0 ? undefined : checkedPart(url, "the user", rest.slice(0, at), USER);
  const { host, port } = readHost(url, rest.slice(at + 1));
  const options = [
    "-T",
    // ssh must fail instead of prompting: without a terminal, a prompt would wait forever.
    ...["-o", "BatchMode=yes"],
    ...(port === undefined ? [] : ["-p", port]),
    ...(user === undefined ? [] : ["-l", user]),
  ];
  return {
    kind: "ssh",
    url,
    program: "ssh",
    cwd: readCwd(parts),
    // ssh joins its arguments with spaces and passes them to the login shell.
    argv: (remote) => ["ssh", ...options, "--", host, remote.map(shellQuote).join(" ")],
  };
}

function readHost(url: string, text: string): { host: string; port: string | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  if (bracketed) {
    const [, address = "", port] = bracketed;
    return { host: checkedPart(url, "the address", address, ADDRESS), port: readPort(url, port) };
  }
  const [host = "", port, ...more] = text.split(":");
  if (more.length > 0) throw badUrl(url, "an IPv6 address needs brackets");
  return { host: checkedPart(url, "the host", host, HOST), port: readPort(url, port) };
}

function readPort(url: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 0xffff)
    throw badUrl(url, `the port ${JSON.stringify(text)} is not a number from 1 to 65535`);
  return String(port);
}
