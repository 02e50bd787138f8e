// What a tool is for, as a closed set, so that a host can offer or withhold tools by kind.

export const TOOL_CATEGORIES = ["file", "execution", "web", "task", "notebook", "mcp", "other"] as const;

export type ToolCategory = (typeof TOOL_CATEGORIES)[number];
