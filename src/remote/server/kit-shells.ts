// The methods of a remote client for shells: nacre/shells.* and nacre/output.read.
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { WaitCondition } from "../../shell/wait-for.ts";
import { NacreError } from "../../support/errors.ts";
import { REMOTE_READ_MAX_BYTES } from "../../support/limits.ts";
import type { Toolkit } from "../../toolkit.ts";
import type { RpcHandler, RpcParams } from "../channel/rpc-peer.ts";
import { type OutputAnswer, type ReadableOutput, type RunOutputs, readOutput } from "./run-output.ts";
import { shellSnapshot } from "./shell-snapshot.ts";

type ShellAction = (shell: ShellProcess, params: RpcParams, signal: AbortSignal) => unknown;

const ACTIONS: Readonly<Record<string, ShellAction>> = {
  get: (shell) => ({ shell: shellSnapshot(shell) }),
  kill: (shell, { options }) => shell.kill(options as Parameters<ShellProcess["kill"]>[0]),
  terminate: (shell, { options }) => shell.terminate(options as Parameters<ShellProcess["terminate"]>[0]),
  signal: (shell, { name }) => shell.sendSignal(name as NodeJS.Signals),
  interrupt: (shell, { options }) => shell.interrupt(options as Parameters<ShellProcess["interrupt"]>[0]),
  why: (shell) => shell.why(),
  leftovers: async (shell) => ({ leftovers: await shell.leftovers() }),
  search: (shell, { pattern, options }, signal) =>
    shell.search(patternOf(pattern), { ...(options as object), signal }),
  wait: async (shell, { condition, timeoutMs }, signal) => {
    const { pattern, ...rest } = condition as Record<string, unknown>;
    const wanted = { ...rest, ...(pattern === undefined ? {} : { pattern: patternOf(pattern) }), signal };
    const result = await shell.waitUntil(wanted as WaitCondition, timeoutMs as number | undefined);
    return { result, shell: shellSnapshot(shell) };
  },
};

export function shellMethods(kit: Toolkit, scope: string, runs: RunOutputs): [string, RpcHandler][] {
  const find = ({ bash_id: id }: RpcParams): ShellProcess => {
    const shell = kit.manager.getShell(String(id), { scope });
    if (shell) return shell;
    throw new NacreError("shell_not_found", `Shell not found: ${String(id)}`);
  };
  return [
    ["nacre/shells.killAll", async ({ options }) => ({ count: await kit.shells.killAll(options as object) })],
    ...Object.entries(ACTIONS).map(([name, action]): [string, RpcHandler] => [
      `nacre/shells.${name}`,
      (params, signal) => action(find(params), params, signal),
    ]),
    [
      "nacre/output.read",
      (params, signal): Promise<OutputAnswer> => {
        const { run, stream, offset = 0, max_bytes = REMOTE_READ_MAX_BYTES, wait_ms = 0 } = params;
        const output = typeof run === "string" ? runs.get(run) : outputOf(find(params));
        return readOutput(output, {
          stream: stream === "stderr" ? "stderr" : "stdout",
          offset: Number(offset),
          maxBytes: Number(max_bytes),
          waitMs: Number(wait_ms),
          signal,
        });
      },
    ],
  ];
}

function outputOf(shell: ShellProcess): ReadableOutput {
  return {
    parts: () => shell.outputParts,
    hasEnded: () => !shell.isRunning,
    changed: () => shell.waitUntil({ exit: true }),
  };
}

/** A RegExp travels as its source and flags. */
function patternOf(value: unknown): string | RegExp | undefined {
  if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
  const { source, flags } = value as { readonly source: string; readonly flags: string };
  return new RegExp(source, flags);
}
