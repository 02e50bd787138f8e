// Whether a command has left its bash damaged.
import { SYNTAX_CHECK_MAX_MS } from "../support/limits.ts";
import type { SessionHouse } from "./session-options.ts";

/**
 * A substitution without its end, `$(` or `<(`, damages the memory of bash 5.2 where it is read by `eval`: it
 * may crash any time later. Only what can be one is looked at closely, by a bash that reads and runs nothing.
 */
export async function isUnterminated(
  command: string,
  house: SessionHouse,
  workspace: string,
): Promise<boolean> {
  if (!/[$<>]\(/.test(command)) return false;
  const reader = await house.createShell({
    command: `set -n\n${command}\n`,
    workingDir: "/",
    workspace,
    background: false,
    timeoutMs: SYNTAX_CHECK_MAX_MS,
  });
  await reader.waitUntil({ exit: true });
  const { exitCode } = reader;
  // A question of ours, not a run of the caller's.
  house.forget(reader);
  return exitCode !== 0;
}
