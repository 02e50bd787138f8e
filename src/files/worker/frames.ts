// Messages between the host and the file worker: four bytes with the length of a JSON text, then the text. The content
// of files is encoded as base64.

export function encodeFrame(message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message, toPlain));
  const frame = Buffer.allocUnsafe(HEADER_BYTES + text.length);
  frame.writeUInt32BE(text.length);
  text.copy(frame, HEADER_BYTES);
  return frame;
}

/** Joins chunks to complete messages. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the messages that this chunk completes. Throws for a message that is too long or is not JSON. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages: unknown[] = [];
    for (let frame = this.#take(); frame; frame = this.#take()) messages.push(JSON.parse(frame.toString()));
    return messages;
  }

  #take(): Buffer | undefined {
    if (this.#size < HEADER_BYTES) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < HEADER_BYTES) this.#chunks = [Buffer.concat(this.#chunks)];
    const length = this.#chunks[0]?.readUInt32BE() ?? 0;
    if (length > this.#maxBytes) throw new Error(`a message of ${length} bytes`);
    if (this.#size < HEADER_BYTES + length) return undefined;
    const all = Buffer.concat(this.#chunks);
    const rest = all.subarray(HEADER_BYTES + length);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    return all.subarray(HEADER_BYTES, HEADER_BYTES + length);
  }
}

/** Reads a Buffer from `this`, because `value` is already the result of Buffer.toJSON, which is a list of numbers. */
function toPlain(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[key];
  return Buffer.isBuffer(own) ? own.toString("base64") : value;
}

const HEADER_BYTES = 4;
