// Moves of files that other programs need.

import { onEffect, type Rule } from "../rule.ts";

export const moveRules: readonly Rule[] = [
  {
    id: "move-system",
    verdict: "deny",
    severity: "critical",
    alternative: "Copy what you need into the workspace instead.",
    matches: ["mv / /tmp", "mv /* /tmp/x", "mv /etc/passwd /tmp/", "mv /usr /usr.bak"],
    misses: ["mv etc/app.conf /tmp/", "mv /tmp/a /tmp/b"],
    check: onEffect({
      kinds: ["move"],
      classes: ["root", "system", "kernel", "device"],
      reason: "{program} would move a part of the system ({path}).",
    }),
  },
  {
    id: "move-home",
    verdict: "deny",
    severity: "critical",
    alternative: "Move single files of the home directory by name.",
    matches: ["mv ~ /tmp/x", "mv ~/* /tmp/x", "mv /home /x"],
    misses: ["mv ~/proj/a ~/proj/b"],
    check: onEffect({
      kinds: ["move"],
      classes: ["home", "above-workspace"],
      reason: "{program} would move a home directory ({path}).",
    }),
  },
  {
    id: "move-outside",
    verdict: "ask",
    severity: "medium",
    alternative: "Copy instead of moving, or work inside the workspace.",
    matches: ["mv ~/Documents /tmp/x", "mv /srv/data ."],
    misses: ["mv a b", "mv /tmp/a src/a"],
    check: onEffect({
      kinds: ["move"],
      classes: ["inside-home", "outside", "system-config", "workspace"],
      reason: "{program} would move {path}, which is outside the workspace.",
    }),
  },
];
