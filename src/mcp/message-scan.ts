// Finds the id of a message that is too large to store, because the client waits for an answer with that id. Tracks the
// strings and the nesting of the JSON text, so that an "id" inside params is not mistaken for the id of the message.
// Stores only the short name or value that it is reading.
import { MCP_ID_MAX_BYTES } from "../support/limits.ts";

export interface Scanned {
  /** null if the message has no id, or an invalid one. */
  readonly id: string | number | null;
  /** Whether the message answers a request of the server: it has a result or an error, and no method. */
  readonly isResponse: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACE = 0x7b;
const BRACKET = 0x5b;
const END_BRACE = 0x7d;
const END_BRACKET = 0x5d;

export class MessageScan {
  #depth = 0;
  #isObject = false;
  #inString = false;
  #escaped = false;
  /** The top-level member whose value is being read. */
  #member = "";
  /** Bytes of the top-level name or value that is being read; undefined if they are not needed. */
  #kept: number[] | undefined;
  #id: Scanned["id"] = null;
  #hasMethod = false;
  #hasAnswer = false;

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      // Most of a large message is text that is not needed: skip to the next quote or backslash.
      if (this.#inString && !this.#escaped && !this.#kept) at = endOfText(bytes, at);
      const byte = bytes[at];
      if (byte !== undefined) this.#take(byte);
    }
  }

  result(): Scanned {
    return { id: this.#id, isResponse: this.#hasAnswer && !this.#hasMethod };
  }

  #take(byte: number): void {
    if (this.#inString) this.#takeText(byte);
    else if (byte === QUOTE) {
      this.#inString = true;
      this.#keep(byte);
    } else if (byte === BRACE || byte === BRACKET) this.#enter(byte);
    else if (byte === END_BRACE || byte === END_BRACKET) this.#leave();
    else if (this.#depth === 1 && byte === COLON) this.#endName();
    else if (this.#depth === 1 && byte === COMMA) this.#endValue();
    else this.#keep(byte);
  }

  #takeText(byte: number): void {
    this.#keep(byte);
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  #enter(byte: number): void {
    this.#depth += 1;
    if (this.#depth === 1) this.#isObject = byte === BRACE;
    // An object or a list is not an id, and its names are not members of the message.
    this.#kept = this.#depth === 1 && this.#isObject ? [] : undefined;
  }

  #leave(): void {
    if (this.#depth === 1) this.#endValue();
    if (this.#depth > 0) this.#depth -= 1;
  }

  #endName(): void {
    const name = parsed(this.#kept);
    this.#member = typeof name === "string" ? name : "";
    if (this.#member === "method") this.#hasMethod = true;
    if (this.#member === "result" || this.#member === "error") this.#hasAnswer = true;
    this.#kept = this.#member === "id" ? [] : undefined;
  }

  #endValue(): void {
    if (this.#member === "id") {
      const value = parsed(this.#kept);
      this.#id = typeof value === "string" || typeof value === "number" ? value : null;
    }
    this.#member = "";
    this.#kept = this.#isObject ? [] : undefined;
  }

  #keep(byte: number): void {
    if (!this.#kept) return;
    if (this.#kept.length < MCP_ID_MAX_BYTES) this.#kept.push(byte);
    else this.#kept = undefined;
  }
}

function endOfText(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
  return at;
}

function parsed(bytes: readonly number[] | undefined): unknown {
  if (!bytes) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}
