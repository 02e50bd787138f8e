// What a model is told about the server as a whole, in five lines; each tool says the rest itself.
import type { Toolkit } from "../toolkit.ts";

export type Dialect = "shells" | "modes";

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
    "Bash runs a command and returns its output and exit code. A command that takes long goes on in the background by itself: you get a bash_id. One whose timeout is over is ended.",
  background:
    "Bash runs a command and returns its output and exit code. A command that takes long goes on in the background by itself: you get a bash_id.",
  kill: "Bash runs a command and returns its output and exit code. A command whose timeout is over is ended; you get what it had printed.",
} as const;

const SHELLS = [
  'For servers and watchers set run_in_background: true, then BashOutput with wait_for (a pattern, or "exit") waits once; do not poll, do not sleep.',
  "KillShell ends a shell with everything it started; do not use kill or pkill. A cancelled call ends its command.",
  "A refusal names the rule, the reason and a safer way. A declined approval is final: do not rewrite the command to get around it.",
];

const MODES = [
  'bash runs a command in a fresh bash: 30 seconds, or mode "slow" for builds, tests and installs.',
  'mode "background" returns a pid and an output file at once: read the file to see how it goes. Do not append &.',
  "stdout and stderr come together in their order; long output is cut in the middle. A cancelled call ends its command.",
  "A refusal names the rule, the reason and a safer way. A declined approval is final: do not rewrite the command to get around it.",
];
