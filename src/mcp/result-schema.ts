// The output schema of all tools. One open schema serves all results: a client refuses a key that a closed schema does
// not declare, and a failed call of any tool has fewer keys than a successful one.

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean" } as const;
const NUMBER = { type: "number" } as const;
const PROCESSES = {
  type: "array",
  items: {
    type: "object",
    properties: { pid: { type: "integer" }, command: TEXT, reason: TEXT },
    required: ["pid", "command"],
    additionalProperties: true,
  },
} as const;

export const RESULT_SCHEMA = {
  type: "object",
  properties: {
    output: { ...TEXT, description: "The output as plain text" },
    error: { ...TEXT, description: "The error message; only if the call failed" },
    error_code: TEXT,
    notes: { type: "array", items: TEXT },
    command: TEXT,
    description: TEXT,
    exit_code: { type: ["integer", "null"] },
    signal: { ...TEXT, description: "The signal that ended the command" },
    duration_ms: NUMBER,
    timeout_ms: { ...NUMBER, description: "The timeout that ended the command" },
    truncated: FLAG,
    output_file: { ...TEXT, description: "The file with the complete output" },
    cwd: { ...TEXT, description: "Bash: the directory of the next command, if it changed" },
    restarted: { ...FLAG, description: "Bash: whether a new bash continues the session" },
    containment: { ...TEXT, description: "Bash: how surely nacre finds the processes of the command" },
    sandbox: { ...TEXT, description: "The sandbox that the command ran in" },
    leftovers: { ...PROCESSES, description: "Bash: processes that the command left running" },
    diagnosis: { type: "object", description: "Bash: what the processes did at the timeout" },
    bash_id: { ...TEXT, description: "The id of the shell, for BashOutput and KillShell" },
    status: { ...TEXT, description: "BashOutput, KillShell: the status of the shell" },
    is_running: { ...FLAG, description: "BashOutput: whether the shell is running" },
    waited_for: { ...TEXT, description: "BashOutput: what ended the wait" },
    screen: { type: "array", items: TEXT, description: "Of a terminal: its rows" },
    cursor: { type: "object", description: "Of a terminal: row and col, from 1" },
    waiting: { ...TEXT, description: "Of a terminal: line, key, secret, maybe or no" },
    changed_rows: { type: "array", items: NUMBER, description: "Of a terminal: rows that changed, from 1" },
    shell_id: { ...TEXT, description: "KillShell: the id that the call named" },
    signalled: { ...PROCESSES, description: "KillShell: processes that got a signal" },
    survivors: { ...PROCESSES, description: "KillShell: processes that are still running, and why" },
    already_stopped: { ...FLAG, description: "KillShell: whether the shell had ended before the call" },
  },
  required: ["output"],
  additionalProperties: true,
} as const;
