// The options of every public method, as closed zod objects. With `satisfies`, the compiler checks that they match the
// types.
import { z } from "zod";
import type { SessionRunOptions, SessionStartOptions } from "../execution/judged-session.ts";
import type { RunCommandOptions } from "../execution/run-alone.ts";
import type { RemoteOptions } from "../remote/client/remote-options.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { Followed } from "../shell/follow-output.ts";
import type { CreateShellOptions, ShellManagerOptions } from "../shell/manager-options.ts";
import type { SearchOptions } from "../shell/output-search.ts";
import type { WaitCondition } from "../shell/wait-for.ts";
import type { CheckedMethod } from "../support/option-checks.ts";
import { CREATE_FLEET, DOCKER, KUBERNETES, SLURM } from "./fleet-schemas.ts";
import {
  abortSignal,
  absolutePath,
  callback,
  closed,
  count,
  directory,
  flag,
  hooks,
  input,
  linePattern,
  listOf,
  object,
  oneOf,
  pick,
  readable,
  text,
  timeout,
  variables,
} from "./option-kinds.ts";
import { type CallOptions, type RunKitOptions, TOOL_GROUPS, type ToolkitOptions } from "./toolkit-options.ts";

type Options<T> = Readonly<Record<keyof T, z.ZodType>>;

const ENVIRONMENT = {
  mode: oneOf("safe", "all", "core", "none"),
  include: listOf(text, "names"),
  exclude: listOf(text, "names"),
  set: variables,
} satisfies Options<NonNullable<ToolkitOptions["environment"]>>;

const CONFINE = {
  sandbox: oneOf("off", "read-only", "workspace-write"),
  network: oneOf("none", "full"),
  workspace: absolutePath,
  writable: listOf(text, "paths"),
  hide: listOf(text, "paths"),
  gitConfig: flag,
  debuggers: flag,
  allowUnsandboxed: flag,
  maxProcesses: count(1),
  maxMemoryBytes: count(1),
  cpuSeconds: count(1),
  maxFileBytes: count(0),
};

const ENGINE = {
  stateRoot: absolutePath,
  environment: closed(ENVIRONMENT),
  shellPath: absolutePath,
  shellProfile: oneOf("none", "user"),
  allowedRoots: listOf(absolutePath, "absolute paths"),
  capBytes: count(1),
  maxLiveShells: count(1),
  maxSessions: count(1),
  killGraceMs: count(0),
  quotaBytes: count(0),
  finishedMaxAgeSeconds: count(0),
  containment: oneOf("auto", "best-effort"),
  poolSize: count(0),
  ...CONFINE,
};

const REMOTE = {
  url: text,
  pingMs: count(1),
  silentMaxMs: count(1),
  lingerMs: count(0),
  retryMaxMs: count(1),
  connectMaxMs: count(1),
  node: absolutePath,
} satisfies Options<RemoteOptions>;

const TOOLKIT = {
  workingDir: directory,
  remote: z.union([text, closed(REMOTE)], {
    error: "a URL, or an object with url and the times of the link",
  }),
  dialect: oneOf("shells", "modes"),
  with: listOf(oneOf(...TOOL_GROUPS), `names of tool groups (${TOOL_GROUPS.join(", ")})`),
  approve: callback,
  scope: text,
  sessionId: text,
  hooks,
  auditFile: text,
  defaultTimeoutMs: count(1),
  defaultDeadline: flag,
  maxTimeoutMs: count(1),
  maxOutputChars: count(1),
  onTimeout: oneOf("kill", "background"),
  returnAfterMs: count(1),
  approvalDeadlineMs: count(1),
  durable: flag,
  profile: text,
  rawOutput: flag,
  redact: flag,
  policy: oneOf("off", "trusting", "standard", "cautious"),
  policyFile: text,
  rules: listOf(object, "rules"),
  entryPoint: oneOf("library", "cli", "mcp"),
  maxPreviewBytes: count(1),
  judge: callback,
  ...ENGINE,
} satisfies Options<ToolkitOptions>;

const CALL = {
  workingDir: absolutePath,
  sessionId: text,
  agentId: text,
  scope: text,
  dryRun: flag,
  timeoutMs: timeout,
  env: variables,
  signal: abortSignal,
  onProgress: callback,
  approve: callback,
  asked: object,
  delivery: callback,
} satisfies Options<CallOptions>;

const RUN_COMMAND = {
  cwd: text,
  env: variables,
  input,
  timeoutMs: timeout,
  signal: abortSignal,
  onOutput: callback,
  onStart: callback,
  omitText: flag,
} satisfies Options<RunCommandOptions>;

const SESSION_RUN = {
  cwd: text,
  workingDir: absolutePath,
  env: variables,
  timeoutMs: timeout,
  onTimeout: oneOf("kill", "background"),
  backgroundAfterMs: timeout,
  description: text,
  agent: text,
  signal: abortSignal,
  onWait: callback,
  onStart: callback,
  onOutput: callback,
  omitText: flag,
} satisfies Options<SessionRunOptions>;

/** Checks only the type here. The manager checks the value later, and its error message names the problem. */
const checkedLater = z.string({ error: "a string" });

/** Checks only the type. The wait itself checks the range, and its error message names the valid range. */
const checkedPort = z.number({ error: "a whole number" });

const checkedSide = z.number({ error: "a whole number" });

const POSITIONS = z.custom<NonNullable<Followed["from"]>>(
  (value) => z.object({ stdout: z.int().min(0), stderr: z.int().min(0) }).safeParse(value).success,
  { error: "an object with the byte positions stdout and stderr" },
);

/** Checks only the types. The start of the terminal checks its size, and its error message names the range. */
const TERMINAL = { terminal: flag, rows: checkedSide, cols: checkedSide };

const KILL = { by: text, graceMs: count(0) };

const SHAPES: Readonly<Record<CheckedMethod, Readonly<Record<string, z.ZodType>>>> = {
  createToolkit: TOOLKIT,
  createFleet: CREATE_FLEET,
  "fleet.lease": Object.fromEntries(
    Object.entries(TOOLKIT).filter(([name]) => !["remote", "dialect"].includes(name)),
  ),
  docker: DOCKER,
  kubernetes: KUBERNETES,
  slurm: SLURM,
  "kit.call": CALL,
  "kit.check": pick(CALL, "workingDir", "sessionId", "scope", "env"),
  "kit.preview": { session: text, ...RUN_COMMAND } satisfies Options<RunKitOptions>,
  "kit.run": { session: text, ...RUN_COMMAND } satisfies Options<RunKitOptions>,
  "kit.session": CALL,
  "session.run": SESSION_RUN,
  "session.start": {
    cwd: text,
    workingDir: absolutePath,
    env: variables,
    timeoutMs: timeout,
    durable: flag,
    name: text,
    description: text,
    agent: text,
    ...TERMINAL,
    signal: abortSignal,
  } satisfies Options<SessionStartOptions>,
  "shell.interrupt": KILL,
  "shell.kill": KILL,
  "shell.output": { signal: abortSignal },
  "shell.outputBytes": { from: POSITIONS, signal: abortSignal },
  "shell.search": {
    contextLines: count(0),
    fromLine: count(1),
    maxLines: count(1),
    tailLines: count(1),
    stream: oneOf("stdout", "stderr"),
    timeoutMs: timeout,
    maxChars: count(1),
    signal: abortSignal,
  } satisfies Options<SearchOptions>,
  "shell.terminate": pick(KILL, "by"),
  "shell.waitFor": {
    pattern: linePattern,
    exit: z.literal(true, { error: "true" }),
    port: checkedPort,
    file: text,
    timeoutMs: timeout,
    signal: abortSignal,
    from: POSITIONS,
  } satisfies Options<WaitCondition>,
  "shell.write": { secret: flag },
  "shells.killAll": pick(KILL, "by"),
  "manager.createShell": {
    command: z.string({ error: "a string" }),
    workingDir: checkedLater,
    env: variables,
    stdin: readable,
    scope: text,
    session: text,
    name: text,
    description: text,
    agent: text,
    timeoutMs: timeout,
    durable: flag,
    streams: oneOf("split", "merged"),
    capBytes: count(1),
    ...TERMINAL,
    trailer: flag,
    idempotencyKey: text,
    workspace: absolutePath,
    inherits: text,
    previewDir: absolutePath,
    background: flag,
  } satisfies Options<CreateShellOptions>,
  "manager.session": {
    workingDir: text,
    scope: text,
    profile: text,
    profileTimeoutMs: count(1),
    saved: object,
    named: text,
  } satisfies Options<SessionOptions>,
  "new ShellManager": {
    ...ENGINE,
    shellPath: checkedLater,
    sandbox: checkedLater,
    trustedFiles: listOf(text, "paths"),
    events: object,
  } satisfies Options<ShellManagerOptions>,
};

const REQUIRED: Readonly<Partial<Record<CheckedMethod, readonly string[]>>> = {
  createFleet: ["engine"],
  docker: ["image"],
};

/** Builds each schema at the first call of its method, so that a program does not wait for schemas it never uses. */
const schemas = new Map<CheckedMethod, z.ZodType>();

export function schemaOf(method: CheckedMethod): z.ZodType {
  const known = schemas.get(method);
  if (known) return known;
  const schema = closed(SHAPES[method], REQUIRED[method]);
  schemas.set(method, schema);
  return schema;
}

/** The options of a toolkit that are also options of its manager. */
export function engineOptionsOf(options: ToolkitOptions): ShellManagerOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(ENGINE, name)));
}

/** The names of the options at this path. */
export function optionNames(method: CheckedMethod, path: readonly string[]): readonly string[] {
  const nested: Readonly<Record<string, object>> = { environment: ENVIRONMENT, remote: REMOTE };
  return Object.keys(nested[path[0] ?? ""] ?? SHAPES[method]);
}
