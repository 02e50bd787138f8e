// Files that run, or decide which programs run, when the user next logs in or starts a shell or an editor. The policy
// uses this list for its class `startup`. The sandbox makes these files read-only in a writable home. Paths are
// relative to the home directory. Pure data, because the policy imports it.

import { type ListedPath, listedPaths, type PathTable } from "./listed-paths.ts";

const PLACES: PathTable = {
  bash: ".bashrc, .bash_profile, .bash_login, .bash_logout, .bash_aliases, .profile, .inputrc",
  zsh: ".zshenv, .zprofile, .zshrc, .zlogin, .zlogout",
  "other shells": ".cshrc, .tcshrc, .login, .kshrc, .mkshrc, .shinit, .config/powershell/",
  fish: ".config/fish/",
  "environment of a login": ".pam_environment, .config/environment.d/, .config/plasma-workspace/",
  desktop:
    ".xinitrc, .xprofile, .xsession, .xsessionrc, .config/user-dirs.dirs, .config/autostart/, .local/share/applications/",
  "window managers": ".config/sway/, .config/i3/, .config/hypr/, .xmonad/, .config/xmonad/",
  services: ".config/systemd/, .local/share/systemd/, .local/share/dbus-1/, Library/LaunchAgents/",
  git: ".gitconfig, .config/git/",
  editors: ".vimrc, .gvimrc, .exrc, .vim/, .config/nvim/, .emacs, .emacs.d/init.el, .emacs.d/early-init.el",
  "VS Code": ".config/Code/User/settings.json, .config/Code/User/tasks.json, .config/Code/User/mcp.json",
  "terminals and prompts":
    ".tmux.conf, .config/tmux/, .screenrc, .config/starship.toml, .config/kitty/, .config/alacritty/, .direnvrc, .config/direnv/, .config/mise/",
  "debuggers and REPLs":
    ".gdbinit, .config/gdb/, .lldbinit, .irbrc, .psqlrc, .sqliterc, .Rprofile, .ipython/profile_default/ipython_config.py, .ipython/profile_default/startup/",
  Docker: ".docker/cli-plugins/",
  builds: ".cargo/config, .cargo/config.toml, .cargo/env, .gradle/init.gradle, .gradle/init.d/, .mavenrc",
  "Claude Code":
    ".claude/settings.json, .claude/settings.local.json, .claude/hooks/, .claude/plugins/, .claude/commands/, .claude/agents/, .claude/skills/",
  "other agents":
    ".mcp.json, .codex/config.toml, .codex/hooks.json, .gemini/settings.json, .gemini/extensions/, .config/opencode/, .cursor/hooks.json, .aider.conf.yml, .config/goose/config.yaml, .qwen/settings.json",
};

/** The startup files of every home directory. */
export const HOME_STARTUP: readonly ListedPath[] = listedPaths(PLACES);

/**
 * Directories into which people install programs and libraries. For this reason, the policy does not treat them as
 * startup files. A sandbox makes them read-only: a command could replace a program that the user runs outside, or add a
 * `.pth` file or `usercustomize.py`, which every Python runs.
 */
export const HOME_PROGRAMS: readonly ListedPath[] = listedPaths({
  "in PATH": ".local/bin/, bin/",
  "of Python": ".local/lib/",
});
