// Variables that make another program run code. The policy analyzes their values like the text of a command.

import { changeDirectory, type Where } from "../paths/paths.ts";
import { isShell } from "../programs/programs.ts";
import type { CommandContext, EffectiveCommand, Runner } from "./command.ts";
import { inSeparateProcess } from "./nested-context.ts";
import { isWritableByCommands } from "./program-identity.ts";

const LOADS =
  /^(LD_\w+|DYLD_\w+|BASH_ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PROMPT_COMMAND|PS4|BASH_LOADABLES_PATH|GCONV_PATH|GIT_EXEC_PATH|GIT_CONFIG\w*|GIT_TEMPLATE_DIR|GIT_PROXY_COMMAND|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|PERL5DB|RUBYOPT|LUA_INIT|RIPGREP_CONFIG_PATH|TAR_OPTIONS|GREP_OPTIONS|MAKEFLAGS|NPM_CONFIG_SCRIPT_SHELL|npm_config_script_shell|RUSTC_WRAPPER|CARGO_TARGET_\w+_RUNNER)$/;

/** Variables whose value is a command line. */
const COMMANDS =
  /^(PROMPT_COMMAND|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_EDITOR|GIT_SEQUENCE_EDITOR|GIT_PAGER|GIT_ASKPASS|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|SSH_ASKPASS|SUDO_ASKPASS|LESSOPEN|LESSCLOSE|RSYNC_RSH|CVS_RSH|FCEDIT)$/;

/** Common harmless values. */
const ORDINARY =
  /^(|:|true|cat|less( -\w+)*|more|vim?|nvim|nano|emacs|code( --?\w+)*|ssh( -(i|p|o|F) ?[^;&|`$()]*| -\w+)*|sed -i(\.\w+)?( -[eE])? ('[^'`$]*'|"[^"`$]*"|[^;&|`$()\s]+)|firefox|google-chrome|delta|bat)$/;

export interface InjectedVariable {
  readonly name: string;
  readonly value: string;
}

/** The first variable that would make another program run code, or null. */
export function injectedVariable(command: EffectiveCommand): InjectedVariable | null {
  return assignedBy(command).find((variable) => injects(variable, command)) ?? null;
}

/**
 * Variables that override nacre's settings file, each with its strictest value; null if every value loosens the
 * setting.
 */
const STRICTEST: Readonly<Record<string, string | null>> = {
  NACRE_POLICY: "cautious",
  NACRE_SANDBOX: "read-only",
  NACRE_NETWORK: "none",
  NACRE_AUDIT_FILE: null,
};

export const SETTING_VARIABLES: readonly string[] = Object.keys(STRICTEST);

/** Reports values that loosen nacre's settings, and analyzes the values that are command lines. */
export function runVariables(command: EffectiveCommand, around: CommandContext, runner: Runner): void {
  for (const { name, value } of assignedBy(command)) {
    if (SETTING_VARIABLES.includes(name) && value !== STRICTEST[name])
      runner.sign("loosens-policy", command.span, `nacre would run commands with the settings in ${name}`);
    const isPrompt = /^PS[0-4]$/.test(name) && /\$\(|`/.test(value);
    if (!isPrompt && (!COMMANDS.test(name) || ORDINARY.test(value))) continue;
    const inside = { ...inSeparateProcess(around, name), assignments: [] };
    runner.runText(isPrompt ? `: "${value.replaceAll('"', '\\"')}"` : value, inside);
  }
}

/**
 * The assignments that a program sees. Before any script, bash runs the file in BASH_ENV, which an earlier command may
 * have set. Includes BASH_ENV only if commands can write to the file that it names.
 */
export function visibleAssignments(
  called: string,
  { assignments, scope, span }: CommandContext,
  where: Where,
): CommandContext["assignments"] {
  const kept = scope.variable("BASH_ENV");
  if (!kept || assignments.some(({ name }) => name === "BASH_ENV")) return assignments;
  const isWritable = (path: string) =>
    scope.cwds.some((cwd) => isWritableByCommands(changeDirectory(path, cwd), where));
  const runsBash =
    isShell(called.slice(called.lastIndexOf("/") + 1)) || (called.includes("/") && isWritable(called));
  const value = runsBash ? kept.values.find((file) => file !== "" && isWritable(file)) : undefined;
  return value === undefined ? assignments : [...assignments, { name: "BASH_ENV", value, span }];
}

function injects({ name, value }: InjectedVariable, command: EffectiveCommand): boolean {
  // Any command can write programs to a temporary directory.
  if (name === "PATH") return /^(\/tmp|\/var\/tmp|\/dev\/shm)(\/|:|$)/.test(value);
  if (name === "ENV") return isShell(command.program);
  if (name === "PS4" || name === "PS1") return /\$\(|`/.test(value);
  if (name === "MAKEFLAGS") return !/^(-?-?j(obs=)?\d*|-\w+)?$/.test(value);
  if (name === "NODE_OPTIONS")
    return /(^|\s)(-r|--require|--import|--loader|--experimental-loader|--inspect|--eval|-e)/.test(value);
  if (name === "JAVA_TOOL_OPTIONS" || name === "_JAVA_OPTIONS")
    return /-(javaagent|agentlib|agentpath)/.test(value);
  // Allow a program of the project to load libraries of the project.
  if (/^(LD|DYLD)_LIBRARY_PATH$/.test(name) && command.called.includes("/"))
    return !/^\.{0,2}\/?[\w.-]+(\/[\w.-]+)*$/.test(value);
  if (COMMANDS.test(name)) return !ORDINARY.test(value);
  return LOADS.test(name);
}

function assignedBy({ assignments, program, args }: EffectiveCommand): readonly InjectedVariable[] {
  if (!/^(export|declare|typeset|readonly)$/.test(program)) return assignments;
  const exported = args.flatMap(({ text }): readonly InjectedVariable[] => {
    const equal = text.indexOf("=");
    return equal > 0 ? [{ name: text.slice(0, equal), value: text.slice(equal + 1) }] : [];
  });
  return [...assignments, ...exported];
}
