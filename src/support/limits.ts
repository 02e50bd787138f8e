// Every number that bounds something: sizes, counts, delays, intervals. Each name ends in its unit. No other file
// defines a limit; test/architecture/limits.test.ts checks this rule. One file per area:

export * from "./limits/approval-limits.ts";
export * from "./limits/cli-limits.ts";
export * from "./limits/engine-limits.ts";
export * from "./limits/execution-limits.ts";
export * from "./limits/file-limits.ts";
export * from "./limits/mcp-limits.ts";
export * from "./limits/policy-limits.ts";
export * from "./limits/preview-limits.ts";
export * from "./limits/remote-limits.ts";
export * from "./limits/sandbox-limits.ts";
export * from "./limits/session-limits.ts";
export * from "./limits/shell-limits.ts";
export * from "./limits/terminal-limits.ts";
export * from "./limits/text-limits.ts";
export * from "./limits/tool-limits.ts";
export * from "./limits/ui-limits.ts";
