// The public entry `nacre`. It includes everything of `nacre/tool`.

export type { AnswerOptions, ApprovalInbox } from "./approvals/approval-inbox.ts";
export type { ApprovalEnd, ApprovalEntry, ApprovalStatus } from "./approvals/approval-record.ts";
export type { RememberedEntry } from "./approvals/remembered-store.ts";
export { type AuditCheck, verifyAudit } from "./audit/verify-audit.ts";
export type { Confinement, NetworkAccess, SandboxProfile } from "./engine/confinement.ts";
export type { Containment } from "./engine/engine.ts";
export type { DroppedVariable, EnvironmentMode } from "./environment/environment.ts";
export {
  type BashArguments,
  type BashStartMetadata,
  BashTool,
  type DangerousPattern,
} from "./execution/bash.ts";
export { type BashOutputArguments, BashOutputTool } from "./execution/bash-output.ts";
export type { BashMetadata } from "./execution/bash-result.ts";
export type { ExecutionOptions, PolicyProfile } from "./execution/execution-options.ts";
export type { FinishedShell } from "./execution/finished-report.ts";
export type {
  JudgedSession,
  SessionRun,
  SessionRunOptions,
  SessionStartOptions,
} from "./execution/judged-session.ts";
export { type KillShellArguments, type KillShellMetadata, KillShellTool } from "./execution/kill-shell.ts";
export type { Leftover } from "./execution/leftovers.ts";
export type { OutputListener, PendingRun } from "./execution/live-output.ts";
export {
  BashModesTool,
  type ModesArguments,
  type ModesMetadata,
  type ModesOptions,
} from "./execution/modes.ts";
export type { BashOutputMetadata } from "./execution/output-metadata.ts";
export { registerExecutionTools, registerModesTool } from "./execution/register.ts";
export type { RunCommandOptions } from "./execution/run-alone.ts";
export type { RunResult } from "./execution/run-result.ts";
export { type EditArguments, type EditMetadata, EditTool } from "./files/edit-tool.ts";
export type { FileMetadata } from "./files/file-options.ts";
export { type GlobArguments, type GlobMetadata, GlobTool } from "./files/glob-tool.ts";
export { type GrepArguments, type GrepMetadata, GrepTool } from "./files/grep-tool.ts";
export { type ReadArguments, type ReadMetadata, ReadTool } from "./files/read-tool.ts";
export { registerAllTools, registerFileTools } from "./files/register-files.ts";
export { type WriteArguments, type WriteMetadata, WriteTool } from "./files/write-tool.ts";
export type { Verdict } from "./policy/verdict.ts";
export type { RemoteOptions } from "./remote/client/remote-options.ts";
export { type DockerFleetOptions, docker } from "./remote/fleet/docker-engine.ts";
export { createFleet, type Fleet, type FleetLease, type FleetOptions } from "./remote/fleet/fleet.ts";
export type {
  FleetEngine,
  LeasedSandbox,
  ListedSandbox,
  SandboxRequest,
} from "./remote/fleet/fleet-engine.ts";
export { type KubernetesFleetOptions, kubernetes } from "./remote/fleet/kubernetes-engine.ts";
export { type SlurmFleetOptions, slurm } from "./remote/fleet/slurm-engine.ts";
export type { LimitOptions } from "./sandbox/resource-limits.ts";
export type { ConfineOptions } from "./sandbox/sandbox.ts";
export type { SandboxOptions } from "./sandbox/sandbox-options.ts";
export type { Session } from "./session/session.ts";
export type { RunOptions, SessionOptions, SessionResult, StartOptions } from "./session/session-options.ts";
export type { DiagnosedProcess, Diagnosis } from "./shell/diagnosis.ts";
export type { OutputPiece, StreamName } from "./shell/follow-output.ts";
export type { KillReport, Survivor } from "./shell/kill-report.ts";
export type { CreateShellOptions, ShellManagerOptions } from "./shell/manager-options.ts";
export type { Outcome } from "./shell/outcome.ts";
export type { OutputPart } from "./shell/output-part.ts";
export type { SearchedStream, SearchOptions, SearchResult, ShownLine } from "./shell/output-search.ts";
export { ShellProcess } from "./shell/shell-process.ts";
export { SHELL_STATUSES, SHELL_TRANSITIONS, ShellStatus } from "./shell/shell-status.ts";
export type { WaitCondition, WaitedFor, WaitFor, WaitLimit, WaitResult } from "./shell/wait-for.ts";
export { ShellManager } from "./shell-manager.ts";
export type { EventListener, EventName, NacreEvent, NacreEvents } from "./support/events.ts";
export { bytesOfText as pathBytes, textOfBytes as pathText } from "./support/path-text.ts";
export { shellQuote } from "./support/shell-quote.ts";
export * from "./tool.ts";
export type { RemoteSession, RemoteSessionRun } from "./toolkit/remote/remote-session.ts";
export type { RemoteShell, RemoteShellState } from "./toolkit/remote/remote-shell.ts";
export type { ShValue } from "./toolkit/sh-template.ts";
export {
  type ArgumentsOf,
  type CallOptions,
  createToolkit,
  type MetadataOf,
  type OptionalToolName,
  type RemoteToolkit,
  type RunKitOptions,
  type ShTag,
  type ToolGroup,
  type Toolkit,
  type ToolkitOptions,
  type ToolName,
} from "./toolkit.ts";
