// The methods of a remote client that run commands: nacre/run, nacre/session.* and nacre/check.
import { PassThrough } from "node:stream";
import { readRange } from "../../engine/cursor.ts";
import type { JudgedSession, SessionRun } from "../../execution/judged-session.ts";
import type { RunResult } from "../../execution/run-result.ts";
import { REMOTE_INLINE_MAX_BYTES } from "../../support/limits.ts";
import type { CallOptions, Toolkit } from "../../toolkit.ts";
import { KEY_FIELD, type RpcHandler, type RpcParams } from "../channel/rpc-peer.ts";
import type { RunOutputs } from "./run-output.ts";
import { shellSnapshot } from "./shell-snapshot.ts";

export interface RunDeps {
  readonly kit: Toolkit;
  readonly runs: RunOutputs;
  /** Returns the function that asks the client for approval of a command in this request. */
  readonly approvals: (params: RpcParams) => Pick<CallOptions, "approve">;
}

export function runMethods(deps: RunDeps): [string, RpcHandler][] {
  const { kit } = deps;
  const inputs = new Map<string, PassThrough>();
  const sessionOf = (params: RpcParams): JudgedSession =>
    kit.session(String(params["session"]), {
      ...(params["call_options"] as CallOptions | undefined),
      ...deps.approvals(params),
    });
  return [
    ["nacre/run", (params, signal) => run(deps, inputs, sessionOf, params, signal)],
    [
      "nacre/run.input",
      async ({ run: key, data }) => {
        const input = inputs.get(String(key));
        if (typeof data === "string") {
          if (input && !input.destroyed && !input.write(Buffer.from(data, "base64"))) await drained(input);
        } else input?.end();
        return { isOpen: input !== undefined && !input.destroyed };
      },
    ],
    ["nacre/session.open", (params) => ({ session: sessionOf(params).toJSON() })],
    ["nacre/session.list", () => ({ sessions: kit.sessions().map((session) => session.toJSON()) })],
    [
      "nacre/session.start",
      async (params, signal) => {
        const options = params["options"] as Parameters<JudgedSession["start"]>[1];
        const shell = await sessionOf(params).start(String(params["command"]), { ...options, signal });
        return { shell: shellSnapshot(shell) };
      },
    ],
    ["nacre/session.interrupt", async (params) => ({ wasRunning: await sessionOf(params).interrupt() })],
    ["nacre/session.restart", (params) => sessionOf(params).restart()],
    ["nacre/session.close", (params) => sessionOf(params).close()],
    ["nacre/check", ({ command, options }) => ({ verdict: kit.check(String(command), options as object) })],
  ];
}

async function run(
  { kit, runs }: RunDeps,
  inputs: Map<string, PassThrough>,
  sessionOf: (params: RpcParams) => JudgedSession,
  params: RpcParams,
  signal: AbortSignal,
): Promise<unknown> {
  const { command, session, hasInput, options, _meta } = params;
  const key = String(Object(_meta)[KEY_FIELD]);
  const output = runs.open(key);
  const { timeoutMs, ...given } = Object(options) as { timeoutMs?: number | null };
  const common = {
    ...given,
    ...(timeoutMs === undefined ? {} : { timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY }),
    signal,
    omitText: true,
    onStart: (parts: RunResult["parts"]) => output.begin(parts),
  };
  const input = hasInput === true ? new PassThrough() : undefined;
  if (input) inputs.set(key, input);
  let result: RunResult | SessionRun | undefined;
  try {
    result =
      session === undefined
        ? await kit.run(String(command), { ...common, ...(input ? { input } : {}) })
        : await sessionOf(params).run(String(command), common);
    return { result: plainResult(result), inline: inlineText(result) };
  } finally {
    output.finish(result?.parts);
    inputs.delete(key);
    input?.destroy();
  }
}

/** The output, if it is short enough to send with the result. The client reads longer output by offset. */
function inlineText({ parts }: RunResult): unknown {
  const { stdout, stderr } = parts;
  if (stdout.to - stdout.from + stderr.to - stderr.from > REMOTE_INLINE_MAX_BYTES) return undefined;
  const text = ({ path, from, to }: typeof stdout) => readRange(path, from, to).toString("base64");
  return { stdout: text(stdout), stderr: text(stderr) };
}

function plainResult(result: RunResult | SessionRun): Readonly<Record<string, unknown>> {
  const { shell, leftoverShell, ...rest } = result as SessionRun;
  return {
    ...rest,
    ...(shell && { shell: shellSnapshot(shell) }),
    ...(leftoverShell && { leftoverShell: shellSnapshot(leftoverShell) }),
  };
}

function drained(stream: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    stream.once("drain", resolve);
    stream.once("close", resolve);
  });
}
