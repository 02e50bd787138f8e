// An endpoint serves one client of the daemon: as a toolkit, an MCP server, the shells for a page, or command lines.
import type { NacreError } from "../../support/errors.ts";
import type { RpcMessage } from "../channel/rpc-peer.ts";

export interface Endpoint {
  /** Processes one message of the client. */
  take(message: RpcMessage): void;
  /** Ends everything that is not durable. */
  end(reason: NacreError): Promise<void>;
}

export interface EndpointDeps {
  /** The directory of the client's relay. */
  readonly cwd: string;
  readonly send: (message: RpcMessage) => void;
  /** Resolves when fewer than `maxBytes` bytes are unacknowledged by the client. */
  readonly drained: (maxBytes: number) => Promise<void>;
  /** Whether the client has a link now. */
  readonly isAttached: () => boolean;
}
