// Converts Node's HTTP requests and responses to those of the Fetch API, which the SDK uses, and back.
// - Sends the head of a stream at once, not with the first event.
// - Releases the stream when its reader disconnects. The SDK allows one stream per connection, and would otherwise
//   refuse the same reader later.
// - Reads a message that is too large to its end, so that the sender can read the refusal.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { INTERNAL_ERROR, INVALID_REQUEST } from "@modelcontextprotocol/server";
import { messageOf } from "../support/errors.ts";
import { MCP_HTTP_DISCARD_MAX_BYTES, MCP_MESSAGE_MAX_BYTES } from "../support/limits.ts";
import { TOO_LARGE } from "./line-transport.ts";
import type { Log } from "./log.ts";
import { MessageScan, type Scanned } from "./message-scan.ts";

export type Fetch = (request: Request) => Promise<Response>;

export function nodeHandler(
  fetch: Fetch,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    try {
      const body = await readBody(request);
      const answer = "isResponse" in body ? tooLarge(body) : await fetch(toWeb(request, body, gone.signal));
      await write(answer, response);
    } catch (error) {
      log(`error: ${messageOf(error)}`);
      // If the head was sent already, the response can no longer be changed.
      if (!response.headersSent) await write(failure(500, INTERNAL_ERROR, "Internal error"), response);
    }
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer | Scanned> {
  const parts: Buffer[] = [];
  let bytes = 0;
  let scan: MessageScan | undefined;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MCP_HTTP_DISCARD_MAX_BYTES) throw new Error("A message is far too large.");
    parts.push(chunk);
    if (bytes <= MCP_MESSAGE_MAX_BYTES) continue;
    scan ??= new MessageScan();
    for (const part of parts.splice(0)) scan.push(part);
  }
  return scan?.result() ?? Buffer.concat(parts);
}

function toWeb({ method = "GET", url = "/", headers }: IncomingMessage, body: Buffer, signal: AbortSignal) {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  // The guard has already checked the Host header, so any host name works here.
  return new Request(`http://localhost${url}`, {
    method,
    headers: pairs,
    signal,
    ...(body.length > 0 && method !== "GET" ? { body } : {}),
  });
}

function tooLarge({ id, isResponse }: Scanned): Response {
  return failure(413, INVALID_REQUEST, TOO_LARGE, isResponse ? null : id);
}

function failure(status: number, code: number, message: string, id: Scanned["id"] = null): Response {
  return Response.json({ jsonrpc: "2.0", id, error: { code, message } }, { status });
}

async function write({ status, headers, body }: Response, response: ServerResponse): Promise<void> {
  const head = Object.fromEntries(headers);
  // Let Node decide whether the connection stays open, because the client may have asked to close it.
  delete head["connection"];
  response.writeHead(status, head);
  if (body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  // The stream types of the Fetch API and of Node differ in name only.
  const source = Readable.fromWeb(body as ReadableStream<Uint8Array>);
  // A client that disconnects is not an error. The pipeline releases the stream in any case.
  await pipeline(source, response).catch(() => {});
}
