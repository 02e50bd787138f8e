// The shells of one remote machine: connects while a page is open, stores the last known rows, and reconnects after a
// failure. Checks all data from the machine (remote-checks.ts), because the machine may be hostile.
//
//   watch(true) -> #follow -> nacre/ui.watch   rows arrive as nacre/ui.change until the link is lost
//                          -> unreachable, with the cause -> a pause -> again
import type { RemoteOptions } from "../remote/client/remote-options.ts";
import { newCallKey, RemotePeer } from "../remote/client/remote-peer.ts";
import { wallMs } from "../support/clock.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import {
  UI_REMOTE_HIDDEN_MAX_COUNT,
  UI_REMOTE_LINGER_MS,
  UI_REMOTE_PING_MS,
  UI_REMOTE_RETRY_MAX_MS,
  UI_REMOTE_RETRY_MIN_MS,
  UI_REMOTE_ROWS_MAX_COUNT,
  UI_REMOTE_SILENT_MAX_MS,
} from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import type { TerminalInput } from "../terminal/shell-terminal.ts";
import type { OutputChunk } from "./page-output.ts";
import * as checked from "./remote-checks.ts";
import type { ShellRow } from "./shell-rows.ts";
import type { PageEnd, PageScreen, PageSink, SearchQuery, ShellSource } from "./shell-source.ts";

export interface MachineState {
  readonly key: string;
  /** As the user configured it. */
  readonly url: string;
  readonly state: "connecting" | "connected" | "unreachable";
  /** Why the machine cannot be reached. */
  readonly cause: string | null;
  /** When this state began, in milliseconds since the epoch. */
  readonly since: number;
  /** The number of rows that are not shown, because there are too many. */
  readonly hidden_count: number;
}

export class RemoteShells implements ShellSource {
  readonly key: string;
  readonly #options: { readonly url: string; readonly control: boolean };
  #state: MachineState;
  readonly #rows = new Map<string, ShellRow>();
  /** The ids of the rows above the limit. */
  readonly #hidden = new Set<string>();
  readonly #streams = new Map<number, (piece: unknown) => unknown>();
  #streamCount = 0;
  #peer: RemotePeer | undefined;
  #watching: AbortController | undefined;

  /** `control`: whether this client may end shells on the machine and type into them. */
  constructor(key: string, options: { readonly url: string; readonly control: boolean }) {
    this.key = key;
    this.#options = options;
    const { url } = options;
    this.#state = { key, url, state: "connecting", cause: null, since: wallMs(), hidden_count: 0 };
  }

  get state(): MachineState {
    return this.#state;
  }

  /** The last known rows, even while the machine cannot be reached. */
  rows(): readonly ShellRow[] {
    return [...this.#rows.values()];
  }

  /** The remote machine measures its own shells. */
  async measure(): Promise<void> {}

  watch(isWatched: boolean): void {
    this.#watching?.abort();
    this.#watching = isWatched ? new AbortController() : undefined;
    if (!this.#watching) return;
    // Rows of an earlier connection stay, but they may be stale until the machine has sent its rows again.
    this.#become("connecting", null);
    void this.#follow(this.#watching.signal);
  }

  async output(id: string, sink: PageSink<readonly OutputChunk[]>): Promise<PageEnd> {
    return await this.#stream("nacre/ui.output", id, sink, checked.outputChunks);
  }

  async screen(id: string, sink: PageSink<PageScreen>): Promise<PageEnd> {
    return await this.#stream("nacre/ui.screen", id, sink, checked.screen);
  }

  async search(id: string, query: SearchQuery): Promise<unknown> {
    return checked.searchResult(await this.#request("nacre/ui.search", { id, query }));
  }

  async processes(id: string): Promise<unknown> {
    return checked.processList(await this.#request("nacre/ui.processes", { id }));
  }

  async kill(id: string): Promise<unknown> {
    const key = newCallKey();
    return checked.killReport(await this.#reached().request("nacre/ui.kill", { id }, { key }));
  }

  async type(id: string, input: TerminalInput): Promise<unknown> {
    await this.#reached().request("nacre/ui.type", { id, input }, { key: newCallKey() });
    return { id };
  }

  async #request(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    return await this.#reached().request(method, params);
  }

  async #stream<Piece>(
    method: string,
    id: string,
    { signal, send }: PageSink<Piece>,
    check: (value: unknown) => Piece,
  ): Promise<PageEnd> {
    this.#streamCount += 1;
    const stream = this.#streamCount;
    this.#streams.set(stream, (piece) => send(check(piece)));
    try {
      return checked.pageEnd(await this.#reached().request(method, { id, stream }, { signal }));
    } finally {
      this.#streams.delete(stream);
    }
  }

  #reached(): RemotePeer {
    const { url, state, cause } = this.#state;
    if (this.#peer && state === "connected") return this.#peer;
    const why = cause === null ? "It is not connected yet." : cause;
    throw new NacreError("unavailable", `The machine ${url} cannot be reached. ${why}`);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let pauseMs = UI_REMOTE_RETRY_MIN_MS; !signal.aborted; ) {
      const peer = this.#newPeer(signal, () => {
        pauseMs = UI_REMOTE_RETRY_MIN_MS;
      });
      this.#peer = peer;
      const closed = () => void peer.close();
      signal.addEventListener("abort", closed, { once: true });
      try {
        await peer.request("nacre/ui.watch", {}, { signal });
        if (!signal.aborted) this.#become("unreachable", "It ended the connection.");
      } catch (error) {
        if (!signal.aborted) this.#become("unreachable", checked.cutText(messageOf(error)));
      }
      signal.removeEventListener("abort", closed);
      await peer.close();
      if (signal.aborted) return;
      await sleep(pauseMs);
      pauseMs = Math.min(UI_REMOTE_RETRY_MAX_MS, pauseMs * 2);
    }
  }

  #newPeer(signal: AbortSignal, onConnected: () => void): RemotePeer {
    const { url, control } = this.#options;
    const remote: RemoteOptions = {
      url,
      pingMs: UI_REMOTE_PING_MS,
      silentMaxMs: UI_REMOTE_SILENT_MAX_MS,
      lingerMs: UI_REMOTE_LINGER_MS,
    };
    let isFirst = true;
    return new RemotePeer(
      remote,
      { kind: "ui", options: { control } },
      new Map([
        [
          "nacre/ui.change",
          (change) => {
            if (signal.aborted) return;
            if (isFirst) this.#forgetRows();
            isFirst = false;
            this.#apply(change);
            onConnected();
          },
        ],
        ["nacre/ui.piece", ({ stream, piece }) => this.#streams.get(Number(stream))?.(piece)],
      ]),
    );
  }

  #apply(change: unknown): void {
    const { shells, gone } = checked.rowChange(change);
    for (const id of gone) {
      this.#rows.delete(id);
      this.#hidden.delete(id);
    }
    for (const row of shells) {
      if (this.#rows.has(row.id) || this.#rows.size < UI_REMOTE_ROWS_MAX_COUNT) {
        this.#rows.set(row.id, row);
        this.#hidden.delete(row.id);
      } else if (this.#hidden.size < UI_REMOTE_HIDDEN_MAX_COUNT) this.#hidden.add(row.id);
    }
    this.#become("connected", null);
  }

  #forgetRows(): void {
    this.#rows.clear();
    this.#hidden.clear();
  }

  #become(state: MachineState["state"], cause: string | null): void {
    const { key, url, since } = this.#state;
    const isSame = this.#state.state === state;
    const hidden_count = this.#hidden.size;
    this.#state = { key, url, state, cause, since: isSame ? since : wallMs(), hidden_count };
  }
}
