// Converts a shell to plain data for a remote client.
import type { ShellProcess } from "../../shell/shell-process.ts";

export function shellSnapshot(shell: ShellProcess) {
  const { id, command, workingDir, scope, createdAt, startedAt, completedAt, durationMs, durable } = shell;
  const { status, outcome = null, exitCode, signal, remarks, outputFiles, confinement = null } = shell;
  return {
    ...{ id, command, workingDir, scope, createdAt, startedAt, completedAt, durationMs, durable },
    ...{ status, outcome, exitCode, signal, remarks, outputFiles, confinement },
  };
}
