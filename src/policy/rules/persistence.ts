// Changes that persist and run code after the command has ended.

import type { JudgedCommand } from "../facts.ts";
import { asksForHelp } from "../facts.ts";
import { type Hit, onEffect, type Rule } from "../rule.ts";

const KEYS = /\/\.ssh\/authorized_keys2?$/;

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
