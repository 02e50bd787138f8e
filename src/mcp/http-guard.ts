// Who may talk to the HTTP server. A web page in a browser of this machine could, by a name that points here
// (DNS rebinding) or by a form: so the Host and Origin headers are looked at. Other users of this machine
// could: so there is a token.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { NacreError } from "../support/errors.ts";
import { MCP_TOKEN_MIN_CHARS } from "../support/limits.ts";

export const MCP_PATH = "/mcp";
export const METHODS: readonly string[] = ["GET", "POST", "DELETE"];

/** The token that let a request in, "" where none is needed; or why it stays outside, as an HTTP status and words. */
export type Admission = { readonly token: string } | Refusal;

export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** What is looked at. */
export type Knock = Pick<IncomingMessage, "headers" | "url" | "method">;

export class HttpGuard {
  readonly #tokens: readonly string[];

  /** Without any token everybody on this machine is let in. */
  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Looks at the headers alone: the body of a stranger is not even read. */
  admit({ headers, url = "/", method = "GET" }: Knock): Admission {
    const host = validateHostHeader(headers.host, localhostAllowedHostnames());
    if (!host.ok) return { status: 403, message: host.message };
    const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins());
    if (!origin.ok) return { status: 403, message: origin.message };
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
  return tokens.length > 0 ? tokens : [randomBytes(24).toString("base64url")];
}

/** What a token is called in places where it must not be seen. */
export function nameOf(token: string): string {
  return digestOf(token).toString("hex").slice(0, 16);
}

/** Takes as long for a token that is nearly right as for any other. */
function isSame(known: string, given: string): boolean {
  return timingSafeEqual(digestOf(known), digestOf(given));
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
