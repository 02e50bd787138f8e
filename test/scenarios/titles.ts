// Every scenario of the original specification, by feature. Each listed title has a test with that title.

export const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  "Bash Tool - Foreground Execution": [
    "Execute simple command",
    "Execute command with output",
    "Execute command that fails",
    "Execute command with stderr",
    "Execute chained commands with &&",
    "Execute chained commands with failing first",
    "Execute command with timeout",
    "Execute command that times out",
    "Execute command with description",
    "Execute command with large output",
    "Execute command in dry run mode",
  ],
  "Bash Tool - Security": [
    "Block dangerous rm -rf /",
    "Block dangerous rm -rf /*",
    "Block fork bomb",
    "Block mkfs command",
    "Allow safe rm command",
    "Allow git commands",
    "Allow npm commands",
  ],
  "Bash Tool - Background Execution": ["Start background command", "Background command returns immediately"],
  "BashOutput Tool": [
    "Get output from running shell",
    "Get output from completed shell",
    "Get only new output since last read",
    "Shell not found",
    "Filter output with regex",
    "Invalid filter regex",
    "Get output with duration info",
  ],
  "KillShell Tool": [
    "Kill running shell",
    "Kill already stopped shell",
    "Kill non-existent shell",
    "Kill shell returns metadata",
  ],
  "Shell Manager": [
    "Create shell",
    "Get shell by ID",
    "Get non-existent shell",
    "List all shells",
    "List running shells",
    "Cleanup completed shells",
    "Kill all shells",
    "ShellManager is singleton",
    "Reset singleton for testing",
  ],
  "Shell Process": [
    "Get new output",
    "Get new output includes stderr",
    "Shell process lifecycle",
    "Calculate duration",
  ],
  "Tool Registration": ["All execution tools are registered", "Execution tools generate valid schemas"],
  "Integration Tests": [
    "Full background command workflow",
    "Kill and verify workflow",
    "Multiple concurrent shells",
    "Timeout does not affect other shells",
  ],
};

/** Requirements of the modes dialect that have tests with their tag. */
export const REQUIREMENTS = [
  "REQ-BASH-001",
  "REQ-BASH-002",
  "REQ-BASH-003",
  "REQ-BASH-004",
  "REQ-BASH-006",
] as const;
