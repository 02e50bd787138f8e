// The output of a shell as it was printed: each stream to its own, so that `nacre output ID --all > file` is what the
// command wrote to stdout. A pattern lets only lines through that match it.
import type { OutputParts } from "../../execution/render.ts";
import type { StreamName } from "../../shell/follow-output.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { readRange } from "../../spool/cursor.ts";
import { FILTER_LINE_MAX_CHARS, READ_CHUNK_BYTES } from "../../support/limits.ts";
import { createUtf8Decoder } from "../../text/decode.ts";
import { filterLines, type LinePattern } from "../../text/filter.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { write } from "../write.ts";

export interface BytesPlan {
  readonly parts: OutputParts;
  readonly pattern: LinePattern | undefined;
  /** Only stderr, and to stdout. */
  readonly stderr: boolean;
  readonly follow: boolean;
}

export async function printBytes(io: CliIo, shell: ShellProcess, plan: BytesPlan): Promise<number> {
  const { parts, stderr, follow } = plan;
  const sinks = { stdout: new Sink(plan.pattern), stderr: new Sink(plan.pattern) };
  const wanted: readonly StreamName[] = stderr ? ["stderr"] : ["stdout", "stderr"];
  const target = (stream: StreamName) => (stderr ? io.stdout : io[stream]);
  const from = { stdout: parts.stdout.from, stderr: parts.stderr.from };
  const pieces = follow ? shell.outputBytes({ from }) : piecesOf(parts, wanted);
  for await (const { stream, bytes } of pieces) {
    if (!wanted.includes(stream)) continue;
    const text = sinks[stream].take(bytes);
    if (text.length > 0 && !(await write(target(stream), text))) return EXIT.brokenPipe;
  }
  for (const stream of wanted) await write(target(stream), sinks[stream].end());
  return EXIT.ok;
}

async function* piecesOf(parts: OutputParts, streams: readonly StreamName[]) {
  for (const stream of streams) {
    const { path, from, to } = parts[stream];
    for (let at = from; at < to; at += READ_CHUNK_BYTES) {
      yield { stream, bytes: readRange(path, at, Math.min(to, at + READ_CHUNK_BYTES)) };
      // Others, a signal among them, get their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Whole lines for a pattern; without one everything, as it is. */
class Sink {
  readonly #pattern: LinePattern | undefined;
  readonly #decoder = createUtf8Decoder();
  #rest = "";

  constructor(pattern: LinePattern | undefined) {
    this.#pattern = pattern;
  }

  take(bytes: Buffer): Buffer | string {
    // A copy: the bytes are overwritten by the next read, and a stream may keep them for longer.
    if (!this.#pattern) return Buffer.from(bytes);
    this.#rest += this.#decoder.push(bytes);
    const end =
      this.#rest.length > FILTER_LINE_MAX_CHARS ? this.#rest.length : this.#rest.lastIndexOf("\n") + 1;
    const lines = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end);
    return filterLines(lines, this.#pattern).text;
  }

  end(): string {
    const rest = this.#rest + this.#decoder.end();
    return this.#pattern ? filterLines(rest, this.#pattern).text : "";
  }
}
