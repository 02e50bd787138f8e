// createToolkit({ remote }): a toolkit that runs commands on another machine. Hooks, approvals and the audit log are at
// this end; the policy, the commands and their output are at the remote end.
import { AuditLog } from "../../audit/audit-log.ts";
import type { Dialect } from "../../execution/endings.ts";
import { writtenRules } from "../../execution/policy-files.ts";
import type { Verdict } from "../../policy/verdict.ts";
import type { RpcHandler, RpcParams } from "../../remote/channel/rpc-peer.ts";
import type { RemoteOptions } from "../../remote/client/remote-options.ts";
import { newCallKey, RemotePeer } from "../../remote/client/remote-peer.ts";
import { defined } from "../../support/defined.ts";
import { NacreError } from "../../support/errors.ts";
import { EVENT_NAMES, Events, type NacreEvent } from "../../support/events.ts";
import { REMOTE_LISTED_SHELLS_MAX_COUNT } from "../../support/limits.ts";
import {
  type ApprovalAsking,
  type ApprovalRequest,
  createContext,
  type ExecutionContext,
  type ToolProgress,
} from "../../tool/context.ts";
import { callEvents, ToolExecutor } from "../../tool/executor.ts";
import { ToolRegistry } from "../../tool/registry.ts";
import { failureOf, type ToolResult } from "../../tool/result.ts";
import { checkName, checkText, checkToolkitOptions, problemWith } from "../check-options.ts";
import { failedRun, shTag } from "../kit-run.ts";
import type { RemoteToolkit, Toolkit } from "../toolkit-interface.ts";
import type { CallOptions, RunKitOptions, ToolkitOptions } from "../toolkit-options.ts";
import { remoteRun } from "./remote-run.ts";
import { RemoteSession } from "./remote-session.ts";
import { RemoteShell, type RemoteShellState } from "./remote-shell.ts";
import { type PlainResult, RemoteTool } from "./remote-tool.ts";

type Assemble = (options: ToolkitOptions) => Pick<Toolkit, "registry">;

/** Options of a local toolkit that change the descriptions of its tools. */
const DESCRIBED = [
  "dialect",
  "with",
  "onTimeout",
  "returnAfterMs",
  "defaultTimeoutMs",
  "defaultDeadline",
  "maxTimeoutMs",
  "sandbox",
  "network",
  "durable",
  "shellProfile",
] as const;

export async function createRemoteToolkit<D extends Dialect>(
  options: ToolkitOptions,
  assemble: Assemble,
): Promise<RemoteToolkit<D>> {
  const kit = new RemoteKit(options, assemble);
  try {
    await kit.ready();
  } catch (error) {
    await kit.dispose();
    throw error;
  }
  return kit.toolkit<D>();
}

class RemoteKit {
  readonly #options: ToolkitOptions;
  readonly #events = new Events();
  readonly #audit: AuditLog | undefined;
  readonly #peer: RemotePeer;
  readonly #registry = new ToolRegistry();
  readonly #executor: ToolExecutor;
  readonly #shells = new Map<string, RemoteShell>();
  readonly #sessions = new Map<string, RemoteSession>();
  /** The calls in flight, by number. Questions and progress from the remote end name the number of their call. */
  readonly #calls = new Map<number, ExecutionContext>();
  #callNumber = 0;

  constructor(options: ToolkitOptions, assemble: Assemble) {
    const {
      remote = "",
      approve,
      hooks = [],
      auditFile,
      judge,
      stateRoot,
      policyFile,
      rules,
      ...rest
    } = options;
    const { workingDir, ...checked } = options;
    checkToolkitOptions(checked, "/", true);
    if (judge) throw notRemote("judge", "the policy judges at the remote end; use rules");
    if (stateRoot !== undefined)
      throw notRemote("stateRoot", "set NACRE_HOME in the environment of the remote end");
    this.#options = options;
    this.#audit = auditFile === undefined ? undefined : new AuditLog(auditFile);
    const audit = this.#audit;
    if (audit) for (const name of EVENT_NAMES) this.#events.on(name, (event) => audit.write(event));
    const own = [...(rules ?? []), ...writtenRules(policyFile)];
    const sent = { ...rest, ...defined({ workingDir }), rules: own, approves: approve !== undefined };
    const handlers = new Map<string, RpcHandler>([
      [
        "nacre/approve",
        ({ request, call, asking }, signal) =>
          this.#approve(request as ApprovalRequest, call, { ...(asking as ApprovalAsking), signal }),
      ],
      ["nacre/event", (params) => this.#onEvent(params)],
      [
        "notifications/progress",
        ({ call, update }) => this.#calls.get(Number(call))?.onProgress?.(update as ToolProgress),
      ],
    ]);
    const target: RemoteOptions = typeof remote === "string" ? { url: remote } : remote;
    this.#peer = new RemotePeer(target, { kind: "kit", options: sent }, handlers, (change) =>
      this.#events.emit("link", change),
    );
    const described = Object.fromEntries(DESCRIBED.map((name) => [name, options[name]]));
    const { registry: local } = assemble(defined(described) as ToolkitOptions);
    this.#registry.registerMany(
      local.listAll().map((tool) => new RemoteTool(tool, (...call) => this.#forward(...call))),
    );
    this.#executor = new ToolExecutor({
      registry: this.#registry,
      hooks: [...hooks, callEvents(this.#events)],
    });
  }

  async ready(): Promise<void> {
    const { shells } = await this.#peer.request<{ shells: unknown }>("nacre/shells.list");
    if (!Array.isArray(shells) || !shells.every((shell) => typeof Object(shell).id === "string"))
      throw new NacreError(
        "unavailable",
        "The remote end cannot be used: it sent a malformed list of shells.",
      );
    for (const state of shells) this.#shellOf(state as RemoteShellState);
  }

  async dispose(): Promise<void> {
    await this.#peer.close();
    this.#audit?.close();
  }

  toolkit<D extends Dialect>(): RemoteToolkit<D> {
    const run = (command: string, call: RunKitOptions = {}) => this.#run(command, call);
    const dispose = () => this.dispose();
    const kit: RemoteToolkit<D> = {
      registry: this.#registry,
      executor: this.#executor,
      schemas: (format) => this.#registry.getAllSchemas(format),
      run,
      sh: shTag(run),
      call: ((tool: string, args: unknown, options?: CallOptions) =>
        this.#call(tool, args, options)) as RemoteToolkit<D>["call"],
      session: (id, call) => this.#session(id, call),
      sessions: () => [...this.#sessions.values()],
      shells: {
        list: () => [...this.#shells.values()],
        get: (id) => this.#shells.get(id),
        killAll: async (options = {}) =>
          (await this.#peer.request<{ count: number }>("nacre/shells.killAll", { options })).count,
      },
      on: (name, listener) => {
        checkName("event", name, EVENT_NAMES);
        return this.#events.on(name, listener);
      },
      check: async (command, options = {}) =>
        (await this.#peer.request<{ verdict: Verdict }>("nacre/check", { command, options })).verdict,
      workingDir: this.#workingDir,
      ready: async () => {},
      dispose,
      [Symbol.asyncDispose]: dispose,
    };
    return Object.defineProperties(kit, LOCAL_ONLY);
  }

  get #workingDir(): string {
    return this.#options.workingDir ?? this.#peer.client.cwd;
  }

  #run(command: string, call: RunKitOptions): ReturnType<RemoteToolkit["run"]> {
    const problem = problemWith("kit.run", call);
    if (problem) return failedRun(problem);
    const { session, input, signal, onOutput, ...options } = call ?? {};
    if (session === undefined)
      return remoteRun(this.#peer, { command, options, signal, onOutput, ...defined({ input }) });
    if (input !== undefined) {
      return failedRun(
        new NacreError(
          "invalid_input",
          "The option input does not work with session: commands of a session have no stdin.",
        ),
      );
    }
    return this.#session(session).run(command, { ...options, ...defined({ signal, onOutput }) });
  }

  async #call(tool: string, args: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const problem = problemWith("kit.call", options);
    if (problem) return failureOf(problem, tool, undefined);
    const { approve, scope, sessionId } = this.#options;
    const context = createContext({
      workingDir: this.#workingDir,
      ...defined({ approve, scope, sessionId }),
      ...options,
    });
    return await this.#executor.execute(tool, context, args);
  }

  async #forward(name: string, args: unknown, context: ExecutionContext): Promise<PlainResult> {
    const { signal, approve, onProgress, sessionId, agentId, scope, dryRun, timeoutMs, env, workingDir } =
      context;
    this.#callNumber += 1;
    const call = this.#callNumber;
    this.#calls.set(call, context);
    const options = defined({ sessionId, agentId, scope, dryRun, timeoutMs, env, workingDir });
    const params = {
      name,
      arguments: args,
      options,
      call,
      approves: approve !== undefined,
      progress: onProgress !== undefined,
    };
    try {
      return await this.#peer.request<PlainResult>("tools/call", params, { signal, key: newCallKey() });
    } finally {
      this.#calls.delete(call);
    }
  }

  #session(id: string = this.#options.sessionId ?? "default", call: CallOptions = {}): RemoteSession {
    checkText("The id of a session", id);
    const { approve = this.#options.approve, workingDir, agentId, scope, env } = call;
    const known = this.#sessions.get(id);
    if (known && Object.keys(call).length === 0) return known;
    const session = new RemoteSession({
      peer: this.#peer,
      id,
      scope: scope ?? this.#options.scope ?? "default",
      cwd: known?.cwd ?? workingDir ?? this.#workingDir,
      params: { approves: approve !== undefined, call_options: defined({ workingDir, agentId, scope, env }) },
      shellOf: (state) => this.#shellOf(state),
    });
    if (!known) this.#sessions.set(id, session);
    return session;
  }

  async #approve(
    request: ApprovalRequest,
    call: unknown,
    asking: ApprovalAsking,
  ): Promise<Readonly<Record<string, unknown>>> {
    const approve = this.#calls.get(Number(call))?.approve ?? this.#options.approve;
    const answer = await approve?.(request, { ...asking, deadline: new Date(asking.deadline) });
    return typeof answer === "object" ? { ...answer } : { allow: answer === true };
  }

  #onEvent({ event, shell }: RpcParams): void {
    if (shell) this.#shellOf(shell as RemoteShellState);
    const { type, at: _, ...data } = event as NacreEvent;
    // Ignore a link event of the remote end: only this end knows the state of the link.
    if (EVENT_NAMES.includes(type) && type !== "link") this.#events.emit(type, data as never);
  }

  #shellOf(state: RemoteShellState): RemoteShell {
    const known = this.#shells.get(state.id) ?? new RemoteShell(this.#peer, state);
    known.update(state);
    if (state.scope === (this.#options.scope ?? "default")) this.#list(known);
    return known;
  }

  /** Drops the oldest ended shell of a full list: the list of a client that runs for months must not grow forever. */
  #list(shell: RemoteShell): void {
    this.#shells.set(shell.id, shell);
    if (this.#shells.size <= REMOTE_LISTED_SHELLS_MAX_COUNT) return;
    const [oldest] = [...this.#shells.values()].filter(({ isRunning }) => !isRunning);
    if (oldest) this.#shells.delete(oldest.id);
  }
}

/** Properties that throw when they are read: without them, an untyped program would get undefined and no reason. */
const LOCAL_ONLY: PropertyDescriptorMap = Object.fromEntries(
  ["manager", "approvals"].map((name) => [
    name,
    {
      get: () => {
        throw new NacreError(
          "unavailable",
          `A remote toolkit has no ${name}: shells and approval requests are at the remote end. Use kit.shells, kit.session or the approve callback.`,
        );
      },
    },
  ]),
);

function notRemote(option: string, instead: string): NacreError {
  return new NacreError("invalid_input", `The option ${option} does not work with remote: ${instead}.`);
}
