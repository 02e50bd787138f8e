// Decides which requests the HTTP server accepts. A web page in a browser on this machine could send requests to the
// server: through a host name that resolves to this machine (DNS rebinding), or through a form. So the guard checks
// the Host and Origin headers. Other users of this machine could also connect, so the guard requires a token.
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

/** The token of an accepted request ("" if none is required), or the refusal. */
export type Admission = { readonly token: string } | HttpRefusal;

export interface HttpRefusal {
  readonly status: number;
  readonly message: string;
}

/** The parts of a request that the guard checks. */
export type RequestHead = Pick<IncomingMessage, "headers" | "url" | "method"> &
  Partial<Pick<IncomingMessage, "headersDistinct">>;

export class HttpGuard {
  readonly #tokens: readonly string[];
  readonly #hint: string;

  /** Without tokens, every request from this machine is accepted. `hint`: where a client finds the token. */
  constructor(tokens: readonly string[], hint: string = MCP_HINT) {
    this.#tokens = tokens;
    this.#hint = hint;
  }

  /** Checks the headers only: the body of a refused request is not read. */
  admit(head: RequestHead): Admission {
    const refusal = this.refuseForeign(head);
    if (refusal) return refusal;
    const { url = "/", method = "GET" } = head;
    if (url.split("?", 1)[0] !== MCP_PATH) {
      return { status: 404, message: `Not found. The server is at ${MCP_PATH}.` };
    }
    if (!METHODS.includes(method)) {
      return { status: 405, message: `${method} is not supported. Use ${METHODS.join(", ")}.` };
    }
    return this.admitToken(head);
  }

  /** The refusal of a request that may come from another machine, or from a page of another site. */
  refuseForeign({ headers, headersDistinct = {} }: RequestHead): HttpRefusal | undefined {
    const { host, origin } = headers;
    // Refuse a repeated header: Node returns only the first one, but a proxy in between may have checked the second.
    const several = Object.keys(GIVEN_ONCE).find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (several) return { status: 403, message: `Send the ${GIVEN_ONCE[several]} header once.` };
    if (host === undefined) return { status: 403, message: "The Host header is missing." };
    if (!isLocalHost(host)) return { status: 403, message: notLocal("Host", host) };
    if (origin && !isLocalOrigin(origin)) return { status: 403, message: notLocal("Origin", origin) };
    return undefined;
  }

  admitToken({ headers }: Pick<RequestHead, "headers">): Admission {
    if (this.#tokens.length === 0) return { token: "" };
    const [, given = ""] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
    const token = this.#tokens.find((known) => isSame(known, given));
    if (token !== undefined) return { token };
    return { status: 401, message: given === "" ? `${NO_TOKEN} ${this.#hint}` : WRONG_TOKEN };
  }
}

const GIVEN_ONCE: Readonly<Record<string, string>> = {
  host: "Host",
  origin: "Origin",
  authorization: "Authorization",
};

// Match the header as text. A URL parser would also accept user@, other notations of the address, and a path.
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i;

/** Accepts any port, because the client may use a forwarded port. */
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
  return `The ${header} header names ${JSON.stringify(shown)}. This server accepts only localhost, 127.0.0.1 and [::1], with or without a port.`;
}

const NO_TOKEN = "A token is required: send the header Authorization: Bearer TOKEN.";
const MCP_HINT = "The server printed the token at its start, or read it from NACRE_MCP_TOKEN.";
const WRONG_TOKEN =
  "The server does not know this token. The server may have been restarted with another token.";

/** The tokens in the environment variable, separated by commas or spaces; a new random one if there are none. */
export function readTokens(text: string | undefined): readonly string[] {
  const tokens = (text ?? "").split(/[\s,]+/).filter((token) => token !== "");
  if (tokens.some((token) => token.length < MCP_TOKEN_MIN_CHARS)) {
    throw new NacreError(
      "invalid_input",
      `A token in NACRE_MCP_TOKEN must have ${MCP_TOKEN_MIN_CHARS} characters or more; openssl rand -hex 24 prints a new one.`,
    );
  }
  return tokens.length > 0 ? tokens : [randomBytes(MCP_TOKEN_BYTES).toString("base64url")];
}

/** A name for the token in places that must not show it. */
export function tokenDigest(token: string): string {
  return digestOf(token).toString("hex").slice(0, MCP_TOKEN_DIGEST_CHARS);
}

/** Compares in constant time: otherwise the time would reveal how much of a token is correct. */
function isSame(known: string, given: string): boolean {
  return timingSafeEqual(digestOf(known), digestOf(given));
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
