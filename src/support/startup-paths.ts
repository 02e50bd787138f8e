// What runs, or decides what runs, when the person comes back: the one list behind the policy's class `startup` and
// what a sandbox keeps read-only in a writable home. Paths are from the home directory; a slash at the end marks a
// directory that counts as a whole. Pure data: the policy imports it.

const PLACES: Readonly<Record<string, string>> = {
  bash: ".bashrc, .bash_profile, .bash_login, .bash_logout, .bash_aliases, .profile, .inputrc",
  zsh: ".zshenv, .zprofile, .zshrc, .zlogin, .zlogout",
  "other shells": ".cshrc, .tcshrc, .login, .kshrc, .mkshrc",
  fish: ".config/fish/",
  "environment of a login": ".pam_environment, .config/environment.d/, .config/plasma-workspace/",
  desktop: ".xinitrc, .xprofile, .xsession, .xsessionrc, .config/autostart/, .local/share/applications/",
  services: ".config/systemd/, .local/share/systemd/, .local/share/dbus-1/, Library/LaunchAgents/",
  git: ".gitconfig, .config/git/",
  editors: ".vimrc, .gvimrc, .exrc, .vim/, .config/nvim/, .emacs, .emacs.d/init.el, .emacs.d/early-init.el",
  "VS Code": ".config/Code/User/settings.json, .config/Code/User/tasks.json, .config/Code/User/mcp.json",
  "terminals and prompts":
    ".tmux.conf, .config/tmux/, .screenrc, .config/starship.toml, .direnvrc, .config/direnv/",
  "debuggers and REPLs": ".gdbinit, .lldbinit, .irbrc, .psqlrc, .sqliterc, .Rprofile",
  builds: ".cargo/config, .cargo/config.toml, .cargo/env, .gradle/init.gradle, .gradle/init.d/, .mavenrc",
  "Claude Code":
    ".claude/settings.json, .claude/settings.local.json, .claude/hooks/, .claude/plugins/, .claude/commands/, .claude/agents/, .claude/skills/",
  "other agents":
    ".mcp.json, .codex/config.toml, .codex/hooks.json, .gemini/settings.json, .gemini/extensions/, .config/opencode/, .cursor/hooks.json, .aider.conf.yml, .config/goose/config.yaml, .qwen/settings.json",
};

export interface StartupPath {
  readonly path: string;
  readonly kind: "directory" | "file";
}

/** In every home directory. */
export const HOME_STARTUP: readonly StartupPath[] = Object.values(PLACES).flatMap(read);

/**
 * Where programs are found before those of the system. To the policy a link in there is ordinary work, as people
 * install tools that way; in a sandbox it would replace a program that the person runs outside.
 */
export const HOME_PROGRAMS: readonly StartupPath[] = read(".local/bin/, bin/");

function read(paths: string): StartupPath[] {
  return paths.split(", ").map((path) => {
    const isDirectory = path.endsWith("/");
    return { path: isDirectory ? path.slice(0, -1) : path, kind: isDirectory ? "directory" : "file" };
  });
}
