// Changes of modes, owners and attributes outside the workspace.

import { onEffect, type Rule } from "../rule.ts";

export const permissionRules: readonly Rule[] = [
  {
    id: "permissions-system",
    verdict: "deny",
    severity: "critical",
    alternative: "Change single files of the workspace: chmod u+x ./script.sh",
    matches: [
      "chmod -R 777 /",
      "chown -R dev /",
      "sudo chmod -R 777 /usr",
      "cd / && chmod -R 777 .",
      "chmod u+s /bin/bash",
      "chattr -R +i /",
      "find / -exec chown nobody {} \\;",
    ],
    misses: ["chmod +x scripts/a.sh", "chmod -R 755 dist", "echo 'chown -R root /'"],
    check: onEffect({
      kinds: ["mode", "owner"],
      classes: ["root", "system", "kernel", "device", "above-workspace"],
      reason: "{program} would change the permissions of a part of the system ({path}).",
    }),
  },
  {
    id: "permissions-outside",
    verdict: "ask",
    severity: "medium",
    alternative: "Name the files in the workspace that need other permissions.",
    matches: ["chmod -R 777 ~", "chown -R nobody .", "chmod -R 777 .", "chown -R dev /srv/x"],
    misses: [
      "chown -R dev:dev ./data",
      "find . -type d -exec chmod 755 {} \\;",
      "chmod 600 .env.local",
      "chmod 600 ~/.ssh/id_rsa",
    ],
    check: onEffect({
      kinds: ["mode", "owner"],
      classes: ["home", "inside-home", "outside", "system-config", "workspace", "temp-root", "unknown"],
      when: ({ recursive, resolved, how }) =>
        (recursive && !(resolved.class === "workspace" && how === "usual")) ||
        resolved.class === "home" ||
        resolved.class === "system-config",
      reason: "{program} would change the permissions of everything in {path}.",
    }),
  },
  {
    id: "permissions-secret",
    verdict: "ask",
    severity: "medium",
    alternative: "Keep keys readable by their owner only: chmod 600.",
    matches: ["chmod 777 ~/.ssh/id_rsa", "chown -R nobody ~/.ssh"],
    misses: ["chmod 600 ~/.ssh/id_rsa", "chmod 700 ~/.ssh"],
    check: onEffect({
      kinds: ["mode", "owner"],
      classes: ["secret", "startup"],
      when: ({ kind, how, recursive }) => kind === "owner" || how === "open" || recursive,
      reason: "{program} would give other users access to {path}.",
    }),
  },
  {
    id: "setuid",
    verdict: "ask",
    severity: "high",
    alternative: "Run the program with the privileges it needs instead of giving it permanent ones.",
    matches: [
      "setcap cap_net_raw+ep ./app",
      "chmod u+s ./app",
      "chmod 4755 ./app",
      "install -m 4755 /bin/bash sb",
    ],
    misses: ["chmod 755 ./app", "install -m 755 app bin/app"],
    check: onEffect({
      kinds: ["mode"],
      classes: [
        "workspace",
        "inside-workspace",
        "temp",
        "inside-home",
        "outside",
        "system-config",
        "unknown",
      ],
      when: ({ how }) => how === "setuid",
      reason: "{program} would give {path} permanent privileges.",
    }),
  },
];
