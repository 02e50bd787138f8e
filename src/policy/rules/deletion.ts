// Deletions that the policy denies, and deletions that it asks about.

import type { Effect } from "../facts.ts";
import { onEffect, type Rule } from "../rule.ts";
import { isCertain } from "../shell-model/marks.ts";

/**
 * Whether the effect covers a whole directory: recursively, or through a glob or a search that matches all files in
 * it.
 */
const isWholeDirectory = ({ recursive, resolved, how }: Effect) =>
  how !== "empty" && (recursive || resolved.contents);

const CACHES = /\/\.cache\/./;

export const deletionRules: readonly Rule[] = [
  {
    id: "delete-root",
    verdict: "deny",
    severity: "critical",
    alternative: "Name the directory you mean, inside the workspace: rm -rf ./build",
    matches: [
      "rm -rf /",
      "rm -fr --no-preserve-root /",
      "sudo rm -rf /*",
      "cd / && rm -rf *",
      "find / -delete",
      "rm --recurs /.",
    ],
    misses: ["rm -rf ./build", "echo 'rm -rf /'", "rm --version", "rm -rf /tmp/x"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["root"],
      when: ({ how }) => how !== "empty",
      reason: "{program} would delete the whole file system ({path}).",
    }),
  },
  {
    id: "delete-home",
    verdict: "deny",
    severity: "critical",
    alternative: "Delete single directories of the home directory by name, one at a time.",
    matches: [
      "rm -rf ~",
      "rm -rf $HOME/*",
      "rm -rf ..",
      "rm -rf /home",
      "find ~ -type f -delete",
      "rsync -a --delete empty/ ~/",
    ],
    misses: ["rm -rf ~/proj/dist", "ls ~"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["home"],
      when: isWholeDirectory,
      reason: "{program} would delete a home directory ({path}).",
    }),
  },
  {
    id: "delete-system",
    verdict: "deny",
    severity: "critical",
    alternative: "Remove packages with the package manager; leave system directories alone.",
    matches: [
      "rm -rf /usr",
      "rm -f /etc/passwd",
      "unlink /etc/shadow",
      "rm -rf /etc/../etc/ssl",
      "find /etc -type f -exec shred -u {} \\;",
    ],
    misses: ["rm -rf ./etc ./usr", "rm -rf /usr/local/lib/node_modules/x", "cat /etc/passwd"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["system", "kernel"],
      when: ({ how }) => how !== "empty",
      reason: "{program} would delete a part of the system ({path}).",
    }),
  },
  {
    id: "delete-above-workspace",
    verdict: "deny",
    severity: "high",
    alternative: "Delete inside the workspace only.",
    matches: [],
    misses: ["rm -rf dist"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["above-workspace"],
      when: isWholeDirectory,
      reason: "{program} would delete the workspace and its siblings ({path}).",
    }),
  },
  {
    id: "delete-credentials",
    verdict: "deny",
    severity: "high",
    alternative: "Ask the user to remove keys and credentials.",
    matches: ["rm -r ~/.ssh ~/.gnupg", "rm -rf ~/.aws", "shred -u ~/.ssh/id_rsa"],
    misses: ["ls ~/.ssh", "rm ~/.ssh/known_hosts"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["secret"],
      when: (effect) => isWholeDirectory(effect) || effect.how === "shred",
      reason: "{program} would delete keys or credentials ({path}).",
    }),
  },
  {
    id: "delete-credential-file",
    verdict: "ask",
    severity: "medium",
    alternative: "Leave credentials and startup files to the user.",
    matches: ["rm ~/.netrc", "rm ~/.bashrc"],
    misses: ["rm notes.txt"],
    check: onEffect({
      kinds: ["delete", "move"],
      classes: ["secret", "startup"],
      reason: "{program} would remove {path}.",
    }),
  },
  {
    id: "delete-outside",
    verdict: "ask",
    severity: "medium",
    alternative: "Work inside the workspace, or move the directory to a temporary directory first.",
    matches: [
      "rm -rf ../other",
      "rm -rf /srv/data",
      "find ~/Downloads -name '*.zip' -delete",
      "rm -rf /tmp",
      "rm -rf /var/lib/app/x",
    ],
    misses: ["rm -rf build", "rm -rf /tmp/x", "rm /tmp/a.txt", "rm ~/.cache/app/a"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["inside-home", "outside", "temp-root", "system-config"],
      when: (effect) =>
        effect.how !== "empty" &&
        (effect.resolved.class === "temp-root"
          ? isWholeDirectory(effect) && !effect.resolved.contents
          : isWholeDirectory(effect) || !CACHES.test(effect.resolved.path)),
      reason: "{program} would delete {path}, which is outside the workspace.",
    }),
  },
  {
    id: "delete-workspace",
    verdict: "ask",
    severity: "medium",
    alternative: "Delete the build directories by name; git clean -n lists untracked files.",
    matches: ["rm -rf ./*", "rm -rf .", "find . -delete"],
    misses: ["rm -rf ./build/*", "find . -name '*.o' -delete"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["workspace"],
      // git-lose-work covers git clean.
      when: (effect) => isWholeDirectory(effect) && effect.how !== "git",
      reason: "{program} would delete everything in the workspace ({path}).",
    }),
  },
  {
    id: "delete-repository",
    verdict: "ask",
    severity: "high",
    alternative: "Keep .git: without it every commit that was not pushed is lost.",
    matches: ["rm -rf .git", "mv .git /tmp/x"],
    misses: ["rm .git/index.lock", "rm -rf build"],
    check: onEffect({
      kinds: ["delete", "move"],
      classes: ["repository"],
      reason: "{program} would remove the repository with its history.",
    }),
  },
  {
    id: "delete-unresolved",
    verdict: "ask",
    severity: "medium",
    alternative: "Write the full path, or set the variable in the same command.",
    matches: ['rm -rf "$DIR"/*', "cat list.txt | xargs rm -rf", 'cd "$X" && rm -rf *'],
    misses: ['T=$(mktemp -d) && rm -rf "$T"', 'rm -f "$tmp"', 'D=build; rm -rf "$D"'],
    check: onEffect({
      kinds: ["delete", "move"],
      classes: ["unknown"],
      when: (effect) =>
        effect.kind === "delete" && (isWholeDirectory(effect) || /[\uFDD2-\uFDD4]$/.test(effect.target.text)),
      reason: "{program} would delete recursively, and its target is known only at run time ({path}).",
    }),
  },
  {
    id: "shred-file",
    verdict: "ask",
    severity: "medium",
    alternative: "Use rm: shredded files cannot be recovered.",
    matches: ["shred -u notes.txt", "find . -type f -exec shred -u {} +"],
    misses: ["shred --help", "rm notes.txt", "shred -u /tmp/key.pem"],
    check: onEffect({
      kinds: ["delete"],
      classes: ["inside-workspace", "workspace", "temp", "inside-home", "outside", "unknown", "hooks"],
      when: ({ how, resolved, target }) =>
        how === "shred" && !(resolved.class === "temp" && isCertain(target.text)),
      reason: "{program} would overwrite {path} beyond recovery.",
    }),
  },
];
