// A toolkit for one remote client. The policy runs here. Approvals and the audit log belong to the client, so this end
// asks the client for approvals and sends it every event.
import type { ShellProcess } from "../../shell/shell-process.ts";
import { EVENT_NAMES, type NacreEvent } from "../../support/events.ts";
import type { ApprovalAnswer, ApprovalAsking, ApprovalRequest } from "../../tool/context.ts";
import { assembleToolkit, type CallOptions, type Toolkit, type ToolkitOptions } from "../../toolkit.ts";
import { type RpcHandler, type RpcParams, RpcPeer } from "../channel/rpc-peer.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";
import { runMethods } from "./kit-runs.ts";
import { shellMethods } from "./kit-shells.ts";
import { RunOutputs } from "./run-output.ts";
import { shellSnapshot } from "./shell-snapshot.ts";

/** The options that a client sends: the options of a toolkit that are plain data. */
export interface KitPurposeOptions extends Omit<ToolkitOptions, "approve" | "hooks" | "judge" | "auditFile"> {
  /** Whether the client answers questions about commands. */
  readonly approves?: boolean;
}

export function kitEndpoint({ approves, ...options }: KitPurposeOptions, deps: EndpointDeps): Endpoint {
  const ask = (call: unknown) => async (request: ApprovalRequest, asking: ApprovalAsking) => {
    const { signal, ...rest } = asking;
    const answer = await peer.request(
      "nacre/approve",
      { request: { ...request }, call, asking: rest },
      { signal },
    );
    const { allow, ...more } = Object(answer) as Partial<ApprovalAnswer>;
    return { ...more, allow: allow === true };
  };
  const kit: Toolkit = assembleToolkit({
    workingDir: deps.cwd,
    ...options,
    ...(approves ? { approve: ask(null) } : {}),
  });
  const scope = options.scope ?? "default";
  const runs = new RunOutputs();
  const approvals = ({ call, approves: asks }: RpcParams): Pick<CallOptions, "approve"> =>
    asks ? { approve: ask(call) } : {};
  const callOptions = (params: RpcParams, signal: AbortSignal): CallOptions => {
    const { call, progress, options: given } = params;
    return {
      ...(given as CallOptions | undefined),
      signal,
      ...approvals(params),
      ...(progress
        ? { onProgress: (update) => peer.notify("notifications/progress", { call, update }) }
        : {}),
    };
  };
  const callTool = async (params: RpcParams, signal: AbortSignal) => {
    const result = await kit.call(
      String(params["name"]),
      params["arguments"] ?? {},
      callOptions(params, signal),
    );
    const { success, output, error, code, metadata, notes } = result;
    return { success, output, error, code, metadata, notes };
  };
  // Start the keeper with the first command: an idle client then needs almost no resources here.
  const prepared = ([name, handler]: [string, RpcHandler]): [string, RpcHandler] => [
    name,
    async (params, signal) => {
      await kit.ready();
      return await handler(params, signal);
    },
  ];
  const listShells: RpcHandler = async () => {
    const isKept = (shell: ShellProcess) => shell.scope === scope && shell.durable && shell.isRunning;
    // ready() adopts the durable shells of dead daemons.
    if (kit.manager.findAll().some(isKept)) await kit.ready();
    return { shells: kit.manager.listShells({ scope }).map(shellSnapshot) };
  };
  const handlers = new Map<string, RpcHandler>([
    prepared(["tools/call", callTool]),
    ...runMethods({ kit, runs, approvals }).map(prepared),
    ...shellMethods(kit, scope, runs),
    ["nacre/shells.list", listShells],
  ]);
  const peer = new RpcPeer(deps.send, handlers);
  for (const name of EVENT_NAMES) {
    // The client's executor emits `call` and `result` itself.
    if (name === "call" || name === "result") continue;
    kit.on(name, (event: NacreEvent) => peer.notify("nacre/event", { event, ...shellOf(kit, event) }));
  }
  return {
    take: (message) => peer.take(message),
    end: async (reason) => {
      peer.fail(reason);
      await kit.dispose();
    },
  };
}

/** The state of the shell that an event is about. */
function shellOf(kit: Toolkit, event: NacreEvent): Readonly<Record<string, unknown>> {
  const shell: ShellProcess | undefined = "id" in event ? kit.manager.getShell(event.id) : undefined;
  return shell ? { shell: shellSnapshot(shell) } : {};
}
