// Agents, and the options that let them act without asking their user. nacre itself is one of these agents.

import { effectsOn } from "./effect.ts";
import type { Agent, Program, ProgramFamily } from "./program-record.ts";
import { type OptionTable, valuesOf } from "./read-options.ts";

const ANY = /(?:)/;
const ON = /^(?!(0|false|no|off)?$)/i;
/** Subcommands that change which tool servers the agent starts later. */
const SERVERS = /^mcp (add|add-json|add-from-\S+|remove|enable)( |$)/;

const GEMINI: Agent = {
  flags: ["--yolo", "-y"],
  values: { "--approval-mode": /^(yolo|auto_?-?edit)$/i },
  lists: { "--allowed-tools": /^(run_shell_command|ShellTool|\*)/ },
  verbs: SERVERS,
};

const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    flags: ["--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"],
    values: {
      "--permission-mode": /^(bypassPermissions|acceptEdits|dontAsk|auto)$/i,
      "--settings": ANY,
      "--permission-prompt-tool": ANY,
    },
    lists: { "--allowedTools": /^(Bash|\*)/, "--allowed-tools": /^(Bash|\*)/ },
    variables: { CLAUDE_CONFIG_DIR: ANY },
    verbs: /^(mcp (add|add-json|add-from-\S+|remove)|config (set|add)|plugin (install|enable))( |$)/,
  },
  codex: {
    flags: ["--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto"],
    values: {
      "-a": /^(never|on-failure)$/,
      "--ask-for-approval": /^(never|on-failure)$/,
      "-s": /^danger-full-access$/,
      "--sandbox": /^danger-full-access$/,
      "-c": /^(approval_policy|approvals?_|sandbox|default_permissions|permissions|projects\.|mcp_servers)/,
      "--config":
        /^(approval_policy|approvals?_|sandbox|default_permissions|permissions|projects\.|mcp_servers)/,
    },
    variables: { CODEX_HOME: ANY },
    verbs: SERVERS,
  },
  "gemini qwen": GEMINI,
  opencode: {
    flags: ["--dangerously-skip-permissions", "--yolo"],
    variables: { OPENCODE_PERMISSION: ANY, OPENCODE_CONFIG: ANY, OPENCODE_CONFIG_CONTENT: ANY },
    verbs: SERVERS,
  },
  "cursor-agent": { flags: ["--force", "-f", "--yolo", "--approve-mcps"] },
  aider: { flags: ["--yes-always", "--yes"], variables: { AIDER_YES_ALWAYS: ON, AIDER_YES: ON } },
  goose: { flags: ["--no-confirm"], variables: { GOOSE_MODE: /^auto$/i, GOOSE_CONFIG_DIR: ANY } },
  amp: { flags: ["--dangerously-allow-all"], values: { "--settings-file": ANY } },
  copilot: {
    flags: ["--allow-all-tools", "--allow-all", "--yolo", "--allow-all-paths"],
    lists: { "--allow-tool": /^(shell|\*)/ },
    variables: { COPILOT_ALLOW_ALL: ON },
  },
  "crush cline iflow": { flags: ["--yolo", "-y"] },
  droid: { flags: ["--skip-permissions-unsafe"], values: { "--auto": /^(medium|high)$/ } },
  kilocode: { flags: ["--yolo", "--auto"] },
  kimi: { flags: ["--yolo", "-y", "--yes", "--auto-approve"] },
  vibe: { flags: ["--auto-approve"] },
  openhands: { flags: ["--always-approve", "--yolo"] },
  gptme: { flags: ["--no-confirm", "-y"] },
  interpreter: { flags: ["--auto_run", "-y"] },
  "q kiro-cli": { flags: ["--trust-all-tools", "-a"], values: { "--trust-tools": /execute_bash/ } },
};

/** The options of nacre's commands. */
export const NACRE_OPTIONS: OptionTable = {
  values: `-snk policy policy-file audit-file last-hash sandbox network writable hide cwd home env env-mode shell-profile session
timeout mode remote scope http dialect format on-timeout with max-processes max-memory cpu-seconds max-file-size
max-preview-size signal port file reason remember for paths approval-deadline key keys wait detach-key rows cols name
filter tail search context from-line max-lines since older-than when-idle engine namespace`,
  flags: `allow-unsandboxed no-token all write dry-run background stdin json durable terminal git-config debuggers control user
help version remembered no-open`,
};

export const agents: ProgramFamily = {
  familiar: "nacre",
  programs: {
    nacre: {
      options: NACRE_OPTIONS,
      // `nacre config` only prints the settings.
      effects: (options) =>
        options.operands[0]?.text === "config" ? [] : effectsOn(valuesOf(options, "audit-file"), "append"),
    },
    ...Object.fromEntries(
      Object.entries(AGENTS).map(([names, agent]): [string, Program] => [names, { agent }]),
    ),
  },
};

/**
 * Options that skip approvals in several agents. The policy also recognizes them in calls of an unknown program,
 * which may be an agent.
 */
export const SHARED_SWITCHES: ReadonlySet<string> = new Set([
  "--dangerously-skip-permissions",
  "--dangerously-bypass-approvals-and-sandbox",
  "--dangerously-allow-all",
  "--skip-permissions-unsafe",
  "--allow-all-tools",
  "--trust-all-tools",
  "--always-approve",
  "--yes-always",
  "--full-auto",
  "--no-approval",
  "--no-approvals",
  "--skip-approvals",
  "--skip-permissions",
  "--bypass-permissions",
  "--yolo",
]);

/** Packages whose program has a different name. */
export const PACKAGE_PROGRAMS: Readonly<Record<string, string>> = {
  "@anthropic-ai/claude-code": "claude",
  "@openai/codex": "codex",
  "@google/gemini-cli": "gemini",
  "@qwen-code/qwen-code": "qwen",
  "@sourcegraph/amp": "amp",
  "@github/copilot": "copilot",
  "@charmland/crush": "crush",
  "@kilocode/cli": "kilocode",
  "opencode-ai": "opencode",
  "aider-chat": "aider",
  "goose-ai": "goose",
  "open-interpreter": "interpreter",
  "openhands-ai": "openhands",
};
