// Settings of nacre and other agents that decide what runs without approval: permissions, approval modes, tool servers.
// A command that writes to one of these files changes the policy for later commands.
//
// Settings with credentials (~/.claude.json) are listed in support/credential-paths.ts and have the class `secret`.

import { PathIndex } from "./path-index.ts";

/** nacre's usual state root, below a home directory. */
export const STATE_ROOT = ".local/state/nacre";

/** Paths below a home directory. An entry that is a directory covers everything in it. */
const HOME_SETTINGS = [
  STATE_ROOT,
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/config.toml",
  ".codex/rules",
  ".cursor/cli.json",
  ".cursor/permissions.json",
  ".cursor/hooks.json",
  ".gemini/settings.json",
  ".gemini/trustedFolders.json",
  ".qwen/settings.json",
  ".config/opencode",
  ".config/goose/config.yaml",
  ".config/goose/permission.yaml",
  ".config/amp/settings.json",
  ".config/crush/crush.json",
  ".config/Code/User/mcp.json",
  ".config/Code/User/settings.json",
  ".factory/settings.json",
  ".factory/mcp.json",
  ".aider.conf.yml",
];

/** Paths below the workspace. */
const WORKSPACE_SETTINGS = [
  ".mcp.json",
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/config.toml",
  ".cursor/mcp.json",
  ".cursor/cli.json",
  ".cursor/hooks.json",
  ".gemini/settings.json",
  ".qwen/settings.json",
  "opencode.json",
  "opencode.jsonc",
  ".opencode/opencode.json",
  ".vscode/mcp.json",
  ".amp/settings.json",
  ".factory/settings.json",
  ".factory/mcp.json",
  ".crush.json",
  "crush.json",
  ".aider.conf.yml",
];

export const SETTINGS_IN_HOME = new PathIndex(HOME_SETTINGS);
export const SETTINGS_IN_WORKSPACE = new PathIndex(WORKSPACE_SETTINGS);
