// Variables that make a program run code or programs that the command does not name. environment.ts drops them from the
// inherited environment. A caller can still include or set them.
import { matcherOf } from "./name-pattern.ts";

/**
 * Whether the variable changes how bash works. Such a variable also changes nacre's scripts that run, time and record
 * the command.
 */
export const subvertsShell = matcherOf([
  "BASH_ENV",
  "BASH_FUNC_*",
  "BASH_LOADABLES_PATH",
  "BASH_XTRACEFD",
  "BASHOPTS",
  "CDPATH",
  "ENV",
  "GLOBIGNORE",
  "IFS",
  "POSIXLY_CORRECT",
  "PROMPT_COMMAND",
  "PS4",
  "SHELLOPTS",
]);

/** Whether the variable changes which code or program the programs of a command load. */
export const subvertsPrograms = matcherOf([
  // the loader
  "LD_*",
  "DYLD_*",
  "GCONV_PATH",
  // git: commands that it calls, and a repository that replaces the one in the working directory
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_ASKPASS",
  "GIT_COMMON_DIR",
  "GIT_CONFIG*",
  "GIT_DIR",
  "GIT_EDITOR",
  "GIT_EXEC_PATH",
  "GIT_EXTERNAL_DIFF",
  "GIT_INDEX_FILE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PAGER",
  "GIT_PROXY_COMMAND",
  "GIT_SEQUENCE_EDITOR",
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_TEMPLATE_DIR",
  "GIT_WORK_TREE",
  // language runtimes
  "CORECLR_PROFILER*",
  "DOTNET_STARTUP_HOOKS",
  "JAVA_TOOL_OPTIONS",
  "JDK_JAVA_OPTIONS",
  "_JAVA_OPTIONS",
  "LUA_INIT*",
  "NODE_OPTIONS",
  "NODE_REPL_EXTERNAL_MODULE",
  "npm_config_node_options",
  "npm_config_script_shell",
  "PERL5DB",
  "PERL5LIB",
  "PERL5OPT",
  "PERLLIB",
  "PHPRC",
  "PHP_INI_SCAN_DIR",
  "PYTHONBREAKPOINT",
  "PYTHONHOME",
  "PYTHONPATH",
  "PYTHONSTARTUP",
  "R_PROFILE*",
  "RUBYLIB",
  "RUBYOPT",
  // tools that call other tools
  "BROWSER",
  "EDITOR",
  "GREP_OPTIONS",
  "LESSCLOSE",
  "LESSOPEN",
  "MAKEFLAGS",
  "MANPAGER",
  "PAGER",
  "RIPGREP_CONFIG_PATH",
  "RSYNC_RSH",
  "SSH_ASKPASS",
  "SUDO_ASKPASS",
  "SVN_SSH",
  "TAR_OPTIONS",
  "VISUAL",
]);
