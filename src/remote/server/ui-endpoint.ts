// Serves the shells of this machine to the page of a remote client (ui/remote-shells.ts): rows, output and screens. If
// the client has control, it can also kill shells and type into them.
import { ShellManager } from "../../shell-manager.ts";
import { NacreError } from "../../support/errors.ts";
import { REMOTE_UNACKED_MAX_BYTES } from "../../support/limits.ts";
import type { TerminalInput } from "../../terminal/shell-terminal.ts";
import { LocalShells } from "../../ui/local-shells.ts";
import type { PageSink, SearchQuery } from "../../ui/shell-source.ts";
import { UiFeed } from "../../ui/ui-feed.ts";
import { type RpcHandler, type RpcParams, RpcPeer } from "../channel/rpc-peer.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";

export interface UiPurposeOptions {
  /** Whether the client may end shells and type. */
  readonly control?: boolean;
}

export function uiEndpoint({ control = false }: UiPurposeOptions, deps: EndpointDeps): Endpoint {
  const shells = new LocalShells(new ShellManager({ poolSize: 0 }));
  const feed = new UiFeed({
    state: () => ({ shells: shells.rows(), approvals: [], machines: [] }),
    measure: () => shells.measure(),
  });
  const sink = <Piece>({ stream }: RpcParams, signal: AbortSignal): PageSink<Piece> => ({
    signal,
    send: async (piece) => {
      peer.notify("nacre/ui.piece", { stream, piece });
      // Wait for a slow link: unsent output then stays on disk, not in memory.
      await deps.drained(REMOTE_UNACKED_MAX_BYTES);
    },
  });
  const watch: RpcHandler = async (_, signal) => {
    const stop = feed.subscribe(({ shells: changed, gone }) =>
      peer.notify("nacre/ui.change", { shells: changed, gone }),
    );
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    stop();
  };
  const acting =
    (act: (id: string, params: RpcParams) => Promise<unknown>): RpcHandler =>
    async (params) => {
      if (!control) throw new NacreError("invalid_input", "This client may only read.");
      const result = await act(idOf(params), params);
      await feed.refresh();
      return result;
    };
  const peer = new RpcPeer(
    deps.send,
    new Map<string, RpcHandler>([
      ["nacre/ui.watch", watch],
      ["nacre/ui.output", (params, signal) => shells.output(idOf(params), sink(params, signal))],
      ["nacre/ui.screen", (params, signal) => shells.screen(idOf(params), sink(params, signal))],
      ["nacre/ui.search", (params) => shells.search(idOf(params), params["query"] as SearchQuery)],
      ["nacre/ui.processes", (params) => shells.processes(idOf(params))],
      ["nacre/ui.kill", acting((id) => shells.kill(id))],
      ["nacre/ui.type", acting((id, { input }) => shells.type(id, input as TerminalInput))],
    ]),
  );
  return {
    take: (message) => peer.take(message),
    end: async (reason) => peer.fail(reason),
  };
}

function idOf({ id }: RpcParams): string {
  return String(id);
}
