// The server instructions for a model, in five lines. Each tool describes the rest itself.
import type { Dialect } from "../execution/endings.ts";
import type { Toolkit } from "../toolkit.ts";

export function instructionsFor(
  dialect: Dialect,
  onTimeout: "kill" | "background" | undefined,
  { registry }: Pick<Toolkit, "registry">,
): string {
  const tools = registry.listNames().join(", ");
  const lines = dialect === "modes" ? MODES : [AT_TIMEOUT[onTimeout ?? "default"], ...SHELLS];
  return [`Shell commands on this machine. Tools: ${tools}.`, ...lines].join("\n");
}

const AT_TIMEOUT = {
  default:
    "Bash runs a command and returns its output and exit code. A long command moves to the background by itself: you get a bash_id. A command whose timeout expires is killed.",
  background:
    "Bash runs a command and returns its output and exit code. A long command moves to the background by itself: you get a bash_id.",
  kill: "Bash runs a command and returns its output and exit code. A command whose timeout expires is killed; you get its output so far.",
} as const;

const SHELLS = [
  'For servers and watchers set run_in_background: true, then BashOutput with wait_for (a pattern, or "exit") waits once; do not poll, do not sleep.',
  "KillShell ends a shell and everything it started; do not use kill or pkill. Cancelling a call ends its command.",
  "A refusal names the rule, the reason and a safer alternative. A declined approval is final: do not rewrite the command to bypass it.",
];

const MODES = [
  'bash runs a command in a fresh bash: 30 seconds, or mode "slow" for builds, tests and installs.',
  'mode "background" returns a pid and an output file at once: read the file to see its progress. Do not append &.',
  "stdout and stderr are combined in order; long output is cut in the middle. Cancelling a call ends its command.",
  "A refusal names the rule, the reason and a safer alternative. A declined approval is final: do not rewrite the command to bypass it.",
];
