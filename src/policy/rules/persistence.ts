// Changes that outlast the command, such as code that runs later and settings of the user.

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
    alternative: "Let the user decide who can log in. To add a key, append it with ssh-copy-id.",
    matches: ["echo k > ~/.ssh/authorized_keys", "cp k ~/.ssh/authorized_keys", "> ~/.ssh/id_rsa"],
    misses: ["echo k >> ~/.ssh/authorized_keys", "cat ~/.ssh/id_rsa.pub"],
    check: onEffect({
      kinds: ["write"],
      classes: ["secret"],
      when: ({ resolved }) => KEYS.test(resolved.path) || /\/\.ssh\/(id_\w+|identity)$/.test(resolved.path),
      reason: "{program} would replace {path}, which controls logins.",
    }),
  },
  {
    id: "write-credentials",
    verdict: "ask",
    severity: "high",
    alternative: "Let the user change keys and credentials.",
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
    check: onRows({
      "change the settings of the user": [
        {
          program: /^(npm|pnpm|yarn|pip[\d.]*|bun)$/,
          args: /^(-\S+ )*config (-\S+ )*(set|delete|edit|unset)( |$)/,
          unless: /--location[ =]project|--local( |$)|--site( |$)/,
        },
        { program: /^python[\d.]*$/, args: /^-m pip config (-\S+ )*(set|unset|edit)/ },
        { program: /^go$/, args: /^env -[wu] / },
      ],
      "change the settings of the desktop": [
        { program: /^(gsettings|dconf)$/, args: /^(set|reset|reset-recursively|write|load) / },
        { program: /^(xdg-mime|xdg-settings)$/, args: /^(default|set) / },
        { program: /^(kwriteconfig\d?|gconftool-2)$/, args: /\S/ },
      ],
      "change the environments of the user": [
        {
          program: /^(conda|mamba|micromamba)$/,
          args: /^(env remove|remove --all|config --(set|add|append|prepend|remove)|clean)( |$)/,
        },
        { program: /^(conda|mamba)$/, args: /(^| )(-n|--name)[ =]base( |$)/ },
      ],
      "change the toolchains of the user": [
        { program: /^rustup$/, args: /^(self uninstall|toolchain (uninstall|remove)|default )/ },
      ],
      "use another source of packages": [{ program: /^gem$/, args: /^sources (-a|--add|-r|-c)/ }],
      "hide what it runs from the history": [
        { program: /^unset$/, args: /(^| )HISTFILE( |$)/ },
        { program: /^export$/, args: /(^| )HIST(FILE=(\/dev\/null|$| )|(FILE)?SIZE=0)/ },
        { program: /^set$/, args: /^\+o history/ },
      ],
      "delete the history": [{ program: /^history$/, args: /^-\w*[cd]/ }],
      "change the account that the user is logged in to": [
        {
          program: /^(docker|podman|npm|yarn|gh|gcloud|az|aws|heroku|oc|argocd|vault|helm)$/,
          args: /^(auth |registry |sso )?(login|adduser|logout)( |$)/,
          unless: /^sso/,
        },
      ],
      "change which keys the user trusts": [{ program: /^gpg2?$/, args: /--import-ownertrust|--recv-keys?/ }],
      "change the versions that the user works with": [{ program: /^pyenv$/, args: /^global \S/ }],
      "use all CPU time or memory of the machine": [{ program: /^(stress|stress-ng)$/, args: /\S/ }],
      "lose work": [
        {
          program: /^(hg)$/,
          args: /(^| )(strip|purge|rollback|revert (-a|--all|-C)|update (-C|--clean)|up -C)( |$)/,
        },
        {
          program: /^(svn|bzr|fossil)$/,
          args: /(^| )(revert|clean|clean-tree|cleanup|delete|rm|uncommit)( |$)/,
        },
      ],
      "empty the trash": [
        { program: /^gio$/, args: /^trash --empty/ },
        { program: /^trash-(empty|rm)$/, args: /(?:)/ },
      ],
      "change processes that pm2 keeps running": [
        { program: /^pm2$/, args: /^(delete|kill|startup|unstartup|del) ?/ },
      ],
      "stop the virtual machine": [{ program: /^wsl(\.exe)?$/, args: /--(shutdown|terminate|unregister)/ }],
      "delete keys": [{ program: /^gpg2?$/, args: /--delete-(secret-)?(and-public-)?keys?/ }],
      "mine cryptocurrency on this machine": [
        {
          program: /^(xmrig|minerd|cpuminer|ethminer|nbminer|t-rex|lolMiner|cgminer|bfgminer)$/,
          args: /(?:)/,
        },
      ],
    }),
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
      "tee $NACRE_HOME/approvals/1.json < x",
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
