// Who may talk to the HTTP server. A web page in a browser of this machine could, by a name that points here
// (DNS rebinding) or by a form: so the Host and Origin headers are looked at. Other users of this machine
// could: so there is a token.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { NacreError } from "../support/errors.ts";
import {
  EXCERPT_MAX_CHARS,
  MCP_TOKEN_BYTES,
  MCP_TOKEN_DIGEST_CHARS,
  MCP_TOKEN_MIN_CHARS,
} from "../support/limits.ts";

export const MCP_PATH = "/mcp";
export const METHODS: readonly string[] = ["GET", "POST", "DELETE"];

/** The token that let a request in, "" where none is needed; or why it stays outside, as an HTTP status and words. */
export type Admission = { readonly token: string } | HttpRefusal;

export interface HttpRefusal {
  readonly status: number;
  readonly message: string;
}

/** What is looked at. */
export type RequestHead = Pick<IncomingMessage, "headers" | "url" | "method"> &
  Partial<Pick<IncomingMessage, "headersDistinct">>;

export class HttpGuard {
  readonly #tokens: readonly string[];

  /** Without any token everybody on this machine is let in. */
  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Looks at the headers alone: the body of a stranger is not even read. */
  admit({ headers, headersDistinct = {}, url = "/", method = "GET" }: RequestHead): Admission {
    const { host, origin } = headers;
    // Of two, Node shows the first; whatever stands between may have looked at the second.
    const several = Object.keys(GIVEN_ONCE).find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (several) return { status: 403, message: `Send the ${GIVEN_ONCE[several]} header once.` };
    if (host === undefined) return { status: 403, message: "The Host header is missing." };
    if (!isLocalHost(host)) return { status: 403, message: notLocal("Host", host) };
    if (origin && !isLocalOrigin(origin)) return { status: 403, message: notLocal("Origin", origin) };
    if (url.split("?", 1)[0] !== MCP_PATH) {
      return { status: 404, message: `There is nothing here. The server is at ${MCP_PATH}.` };
    }
    if (!METHODS.includes(method)) {
      return { status: 405, message: `${method} means nothing here, only ${METHODS.join(", ")}.` };
    }
    if (this.#tokens.length === 0) return { token: "" };
    const [, given = ""] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
    const token = this.#tokens.find((known) => isSame(known, given));
    if (token !== undefined) return { token };
    return { status: 401, message: given === "" ? NO_TOKEN : WRONG_TOKEN };
  }
}

const GIVEN_ONCE: Readonly<Record<string, string>> = {
  host: "Host",
  origin: "Origin",
  authorization: "Authorization",
};

// Compared as it is written. A URL parser would also take user@, other spellings of the address and what follows it.
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i;

/** With any port: the one that a client sees may be forwarded. */
function isLocalHost(host: string): boolean {
  const [whole, port = "0"] = LOCAL_HOST.exec(host) ?? [];
  return whole !== undefined && Number(port) <= 65_535;
}

function isLocalOrigin(origin: string): boolean {
  const [, host] = /^https?:\/\/(.*)$/i.exec(origin) ?? [];
  return host !== undefined && isLocalHost(host);
}

function notLocal(header: string, value: string): string {
  const shown = value.length > EXCERPT_MAX_CHARS ? `${value.slice(0, EXCERPT_MAX_CHARS)}…` : value;
  return `The ${header} header names ${JSON.stringify(shown)}. This server answers to localhost, 127.0.0.1 and [::1] only, with or without a port.`;
}

const NO_TOKEN =
  "A token is needed: send the header Authorization: Bearer TOKEN. The server printed the token when it started, or was given it in NACRE_MCP_TOKEN.";
const WRONG_TOKEN =
  "The token is not known to this server. It may have been restarted since, with another one.";

/** From the environment: one token or several, separated by commas or spaces. A new one where there is none. */
export function readTokens(text: string | undefined): readonly string[] {
  const tokens = (text ?? "").split(/[\s,]+/).filter((token) => token !== "");
  if (tokens.some((token) => token.length < MCP_TOKEN_MIN_CHARS)) {
    throw new NacreError(
      "invalid_input",
      `A token in NACRE_MCP_TOKEN must have ${MCP_TOKEN_MIN_CHARS} characters or more; openssl rand -hex 24 makes one.`,
    );
  }
  return tokens.length > 0 ? tokens : [randomBytes(MCP_TOKEN_BYTES).toString("base64url")];
}

/** What a token is called in places where it must not be seen. */
export function tokenDigest(token: string): string {
  return digestOf(token).toString("hex").slice(0, MCP_TOKEN_DIGEST_CHARS);
}

/** Takes as long for a token that is nearly right as for any other. */
function isSame(known: string, given: string): boolean {
  return timingSafeEqual(digestOf(known), digestOf(given));
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
