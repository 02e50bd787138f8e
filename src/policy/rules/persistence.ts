// Changes that persist and run code after the command has ended.

import type { JudgedCommand } from "../facts.ts";
import { asksForHelp } from "../facts.ts";
import { type Hit, onEffect, type Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const KEYS = /\/\.ssh\/authorized_keys2?$/;

const STARTUP_NAMES =
  /\/(\.bashrc|\.bash_profile|\.bash_login|\.profile|\.zshrc|\.zshenv|\.zprofile|authorized_keys2?|(user|site)customize\.py|[^/]+\.pth|crontab|sudoers|\.gitconfig|\.npmrc|\.netrc)$/;

export const persistenceRules: readonly Rule[] = [
  {
    id: "replace-keys",
    verdict: "deny",
    severity: "critical",
    alternative: "Let the user decide on logins; at most, append a key with ssh-copy-id.",
    matches: ["echo k > ~/.ssh/authorized_keys", "cp k ~/.ssh/authorized_keys", "> ~/.ssh/id_rsa"],
    misses: ["echo k >> ~/.ssh/authorized_keys", "cat ~/.ssh/id_rsa.pub"],
    check: onEffect({
      kinds: ["write"],
      classes: ["secret"],
      when: ({ resolved }) => KEYS.test(resolved.path) || /\/\.ssh\/(id_\w+|identity)$/.test(resolved.path),
      reason: "{program} would replace {path}, which can lock users out or let others in.",
    }),
  },
  {
    id: "write-credentials",
    verdict: "ask",
    severity: "high",
    alternative: "Leave keys and credentials to the user.",
    matches: ["echo key >> ~/.ssh/authorized_keys", "echo x > ~/.npmrc", "tee ~/.aws/credentials < x"],
    misses: ["echo x > .npmrc", "echo h >> ~/.ssh/known_hosts"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["secret"],
      when: ({ how }) => how !== "mkdir",
      reason: "{program} would change {path}.",
    }),
  },
  {
    id: "write-startup",
    verdict: "ask",
    severity: "medium",
    alternative: "Set it for this one command, or write a file that the user can source.",
    matches: [
      "echo 'export X=1' >> ~/.bashrc",
      "> ~/.bashrc",
      "find . -fprint /home/dev/.bashrc",
      "cp x ~/.config/autostart/",
      "sed -i s/a/b/ ~/.profile",
    ],
    misses: ["cat ~/.bashrc", "echo x > .bashrc.example", "source ~/.bashrc"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["startup"],
      when: ({ how }) => how !== "mkdir",
      reason: "{program} would change {path}, which runs at every login.",
    }),
  },
  {
    id: "write-startup-somewhere",
    verdict: "ask",
    severity: "high",
    alternative: "Write the full path, so that it can be judged.",
    matches: ["echo x > $(python3 -m site --user-site)/usercustomize.py", 'tee "$D/.bashrc" < x'],
    misses: ['echo x > "$D/notes.txt"', "echo x > .bashrc"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["unknown"],
      when: ({ target }) => STARTUP_NAMES.test(target.text),
      reason: "{program} would write a file with the name of a startup file ({path}).",
    }),
  },
  {
    id: "change-user-settings",
    verdict: "ask",
    severity: "medium",
    alternative: "Set it for this project or this one command, or let the user change it.",
    matches: [
      "npm config set strict-ssl false",
      "pip config set --user global.index-url http://x/simple",
      "go env -w GOPROXY=http://x",
      "gsettings set a b c",
    ],
    misses: [
      "npm config get registry",
      "go env GOPATH",
      "npm config set --location=project save-exact true",
      "gsettings get a b",
    ],
    check: onRows([
      {
        program: /^(npm|pnpm|yarn|pip[\d.]*|bun)$/,
        args: /^(-\S+ )*config (-\S+ )*(set|delete|edit|unset)( |$)/,
        unless: /--location[ =]project|--local( |$)|--site( |$)/,
        does: "change the settings of the user",
      },
      {
        program: /^python[\d.]*$/,
        args: /^-m pip config (-\S+ )*(set|unset|edit)/,
        does: "change the settings of the user",
      },
      { program: /^go$/, args: /^env -[wu] /, does: "change the settings of the user" },
      {
        program: /^(gsettings|dconf)$/,
        args: /^(set|reset|reset-recursively|write|load) /,
        does: "change the settings of the desktop",
      },
      {
        program: /^(xdg-mime|xdg-settings)$/,
        args: /^(default|set) /,
        does: "change the settings of the desktop",
      },
      { program: /^(kwriteconfig\d?|gconftool-2)$/, args: /\S/, does: "change the settings of the desktop" },
      {
        program: /^(conda|mamba|micromamba)$/,
        args: /^(env remove|remove --all|config --(set|add|append|prepend|remove)|clean)( |$)/,
        does: "change the environments of the user",
      },
      {
        program: /^rustup$/,
        args: /^(self uninstall|toolchain (uninstall|remove)|default )/,
        does: "change the toolchains of the user",
      },
      { program: /^gem$/, args: /^sources (-a|--add|-r|-c)/, does: "use another source of packages" },
      { program: /^unset$/, args: /(^| )HISTFILE( |$)/, does: "hide what it runs from the history" },
      {
        program: /^export$/,
        args: /(^| )HIST(FILE=(\/dev\/null|$| )|(FILE)?SIZE=0)/,
        does: "hide what it runs from the history",
      },
      { program: /^set$/, args: /^\+o history/, does: "hide what it runs from the history" },
      { program: /^history$/, args: /^-\w*[cd]/, does: "delete the history" },
      {
        program: /^(docker|podman|npm|yarn|gh|gcloud|az|aws|heroku|oc|argocd|vault|helm)$/,
        args: /^(auth |registry |sso )?(login|adduser|logout)( |$)/,
        unless: /^sso/,
        does: "change with which account the user works",
      },
      {
        program: /^gpg2?$/,
        args: /--import-ownertrust|--recv-keys?/,
        does: "change which keys the user trusts",
      },
      { program: /^pyenv$/, args: /^global \S/, does: "change the versions that the user works with" },
      {
        program: /^(conda|mamba)$/,
        args: /(^| )(-n|--name)[ =]base( |$)/,
        does: "change the environments of the user",
      },
      { program: /^(stress|stress-ng)$/, args: /\S/, does: "use up the machine" },
      {
        program: /^(hg)$/,
        args: /(^| )(strip|purge|rollback|revert (-a|--all|-C)|update (-C|--clean)|up -C)( |$)/,
        does: "lose work",
      },
      {
        program: /^(svn|bzr|fossil)$/,
        args: /(^| )(revert|clean|clean-tree|cleanup|delete|rm|uncommit)( |$)/,
        does: "lose work",
      },
      { program: /^gio$/, args: /^trash --empty/, does: "empty the trash" },
      { program: /^trash-(empty|rm)$/, args: /(?:)/, does: "empty the trash" },
      {
        program: /^pm2$/,
        args: /^(delete|kill|startup|unstartup|del) ?/,
        does: "change processes that pm2 keeps running",
      },
      { program: /^wsl(\.exe)?$/, args: /--(shutdown|terminate|unregister)/, does: "stop the machine" },
      { program: /^gpg2?$/, args: /--delete-(secret-)?(and-public-)?keys?/, does: "delete keys" },
      {
        program: /^(xmrig|minerd|cpuminer|ethminer|nbminer|t-rex|lolMiner|cgminer|bfgminer)$/,
        args: /(?:)/,
        does: "mine coins with this machine",
      },
    ]),
  },
  {
    id: "change-policy",
    verdict: "ask",
    severity: "high",
    alternative: "Name the rule or setting, and let the user change it.",
    matches: [
      "echo '{}' > ~/.config/nacre/policy.json",
      "rm .nacre/policy.json",
      "mv .nacre old",
      "sed -i s/deny/allow/ .nacre/policy.json",
      "chmod 000 .nacre/policy.json",
      "echo '{}' > .claude/settings.local.json",
      "cp mcp.json .mcp.json",
      "cp settings.json .claude/",
      "tee -a ~/.codex/config.toml < x",
      "sed -i s/ask/allow/ ~/.gemini/settings.json",
      "echo x > ~/.local/state/nacre/approvals/1.json",
    ],
    misses: [
      "cat .nacre/policy.json",
      "echo x > docs/.nacre.md",
      "ls ~/.config/nacre",
      "cat .claude/settings.json",
      "cp review.md .claude/commands/",
      "jq .mcpServers .mcp.json",
    ],
    check: onEffect({
      kinds: ["write", "append", "delete", "move", "mode", "owner"],
      classes: ["policy"],
      reason: "{program} would change which commands run without approval ({path}).",
    }),
  },
  {
    id: "write-hooks",
    verdict: "ask",
    severity: "medium",
    alternative: "Use the project's own hook tool, or let the user install hooks.",
    matches: ["echo x > .git/hooks/pre-commit", "cp hook .git/hooks/post-merge", "tee -a .git/config < x"],
    misses: ["ls .git/hooks", "cat .git/config", "rm .git/index.lock"],
    check: onEffect({
      kinds: ["write", "append", "move"],
      classes: ["hooks"],
      reason: "{program} would change {path}, which git runs or reads.",
    }),
  },
  {
    id: "schedule",
    verdict: "ask",
    severity: "high",
    alternative: "Run it now, in the background; let the user schedule permanent jobs.",
    programs: /^(crontab|at|batch|anacron|atrm|systemd-run|schtasks|launchctl|loginctl)$/,
    matches: [
      "crontab new.cron",
      "crontab -r",
      "echo ls | at now",
      "(crontab -l; echo '* * * * * x') | crontab -",
    ],
    misses: ["crontab -l", "at -l", "atq"],
    check: (command: JudgedCommand): Hit | null => {
      const [first] = command.args;
      if (asksForHelp(command) || /^-(l|V|c)$/.test(first?.text ?? "")) return null;
      if (command.program === "loginctl" && first?.text !== "enable-linger") return null;
      if (command.program === "launchctl" && /^(list|print)/.test(first?.text ?? "")) return null;
      return { reason: `${command.program} would run a program later, unsupervised.` };
    },
  },
];
