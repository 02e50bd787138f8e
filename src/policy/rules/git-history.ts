// git commands that rewrite history, discard work, or make git run a program later.

import type { JudgedCommand } from "../facts.ts";
import { isExecutedSetting, readGit } from "../programs/git.ts";
import type { Hit, Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const has = (args: readonly string[], pattern: RegExp) => args.some((arg) => pattern.test(arg));
const force = /^(-\w*f\w*|--force)$/;

/** What each subcommand would do, or null. */
const LOSSES: Readonly<Record<string, (args: readonly string[]) => string | null>> = {
  reset: (args) => (has(args, /^--(hard|merge|keep)$/) ? "discard uncommitted changes" : null),
  clean: (args) =>
    has(args, force) && !has(args, /^(-\w*n\w*|--dry-run)$/) ? "delete files git does not know" : null,
  checkout: (args) =>
    has(args, /^(-f|--force|--|\.|:\/|\*|--ours|--theirs|-B)$/) && !has(args, /^(-b|--orphan)$/)
      ? "overwrite uncommitted changes"
      : null,
  restore: (args) =>
    has(args, /^(--staged|-S)$/) && !has(args, /^(--worktree|-W)$/)
      ? null
      : args.length > 0
        ? "overwrite uncommitted changes"
        : null,
  switch: (args) =>
    has(args, /^(-f|--force|--discard-changes|-C|--force-create)$/) ? "overwrite uncommitted changes" : null,
  push: (args) =>
    has(args, /^(-\w*f\w*|--force(-.*)?|--force-with-lease(=.*)?|--mirror|--prune|-d|--delete)$|^\+|^:./) &&
    !has(args, /^(-n|--dry-run)$/)
      ? "rewrite or delete shared history"
      : null,
  branch: (args) => (has(args, /^(-D|-M|-C|--force|-\w*f\w*)$/) ? "drop commits of a branch" : null),
  tag: (args) => (has(args, /^(-d|--delete|-f|--force)$/) ? "drop a tag" : null),
  stash: (args) => (/^(drop|clear)$/.test(args[0] ?? "") ? "drop stashed work" : null),
  reflog: (args) => (/^(expire|delete)$/.test(args[0] ?? "") ? "delete the record of lost commits" : null),
  "update-ref": (args) =>
    has(args, /^(-d|--stdin)$/) || args.length > 1 ? "move or drop a reference" : null,
  "checkout-index": (args) => (has(args, force) ? "overwrite uncommitted changes" : null),
  "symbolic-ref": (args) => (has(args, /^(-d|--delete)$/) ? "drop a reference" : null),
  "read-tree": (args) => (has(args, /^(--reset|-u)$/) ? "overwrite uncommitted changes" : null),
  lfs: (args) => (args[0] === "prune" ? "delete unused large files" : null),
  "filter-branch": () => "rewrite the whole history",
  "filter-repo": () => "rewrite the whole history",
  gc: (args) => (has(args, /^--prune(=(now|all))?$/) ? "delete unreachable commits" : null),
  prune: (args) => (has(args, /^(-n|--dry-run)$/) ? null : "delete unreachable commits"),
  rebase: (args) =>
    has(args, /^(--root|-x|--exec(=.*)?)$/)
      ? "rewrite the whole history or run a command on every commit"
      : null,
  worktree: (args) =>
    args[0] === "remove" && has(args, force) ? "delete a worktree with its changes" : null,
  submodule: (args) =>
    args[0] === "deinit" || args[0] === "foreach"
      ? args[0] === "deinit" && has(args, force)
        ? "delete a submodule's changes"
        : null
      : null,
  rm: (args) =>
    has(args, /^(-\w*r\w*|--force|-\w*f\w*)$/) &&
    !has(args, /^(--cached|-n|--dry-run)$/) &&
    has(args, /^(\.|\*|:\/|\uFDD2)$/)
      ? "delete every tracked file"
      : null,
  remote: (args) =>
    /^(set-url|remove|rm)$/.test(args[0] ?? "") ? "change the remote of the repository" : null,
  replace: (args) => (args.length > 0 && !has(args, /^(-l|--list)$/) ? "replace commits" : null),
};

function loses(command: JudgedCommand): Hit | null {
  const { verb, args } = readGit(command.args);
  const loss = Object.hasOwn(LOSSES, verb) ? LOSSES[verb]?.(args) : null;
  return loss && !args.includes("--help") ? { reason: `git ${verb} would ${loss}.` } : null;
}

function configures(command: JudgedCommand): Hit | null {
  const { verb, args } = readGit(command.args);
  if (verb !== "config" || has(args, /^(--get.*|-l|--list|--unset.*|get|list|unset)$/)) return null;
  const at = args.findIndex((arg) => isExecutedSetting(arg));
  const value = args[at + 1] ?? "";
  if (at < 0 || value === "" || /^(cat|less|true|vim|vi|nano|store|cache|osxkeychain|manager)$/.test(value))
    return null;
  if (/^alias\./i.test(args[at] ?? "") && !value.startsWith("!")) return null;
  return { reason: `git would run ${value} from now on (${args[at]}).` };
}

export const gitRules: readonly Rule[] = [
  {
    id: "git-lose-work",
    verdict: "ask",
    severity: "medium",
    alternative: "Save the work first: git stash, or a branch at the commits that would be lost.",
    programs: /^git$/,
    matches: [
      "git reset --hard",
      "git clean -fdx",
      "git push --force",
      "git push origin :main",
      "git -C x branch -D f",
      "git stash drop",
      "git checkout .",
      "git reflog expire --expire=now --all",
      "git rebase -i --root",
    ],
    misses: [
      "git status",
      "git push",
      "git push -u origin main",
      "git reset HEAD~1",
      "git clean -nfd",
      "git checkout -b x",
      "git branch -d merged",
      "git stash pop",
      "git restore --staged a",
      "git commit -m 'reset --hard'",
    ],
    check: loses,
  },
  {
    id: "lose-work",
    verdict: "ask",
    severity: "medium",
    alternative: "Save a copy or a branch of the work first.",
    matches: ["hg update -C", "svn revert -R .", "bfg --delete-files x.pem", "jj abandon @"],
    misses: ["hg status", "svn update", "jj log"],
    check: onRows([
      {
        program: /^(hg|chg)$/,
        args: /^(strip|purge|rollback|debugstrip|(update|up|co|checkout) .*(-C|--clean)|revert .*(-a|--all|\.))/,
        does: "discard changes",
      },
      { program: /^svn$/, args: /^(revert|cleanup .*--remove|delete http|rm http)/, does: "discard changes" },
      {
        program: /^jj$/,
        args: /^(abandon|op(eration)? (restore|undo)|restore|git push .*(--deleted|--all))/,
        does: "discard changes",
      },
      { program: /^(bfg|git-filter-repo)$/, args: /\S/, does: "rewrite the whole history" },
    ]),
  },
  {
    id: "git-run-later",
    verdict: "ask",
    severity: "high",
    alternative: "Leave settings that name programs to the user.",
    programs: /^git$/,
    matches: [
      "git config --global core.hooksPath /tmp/h",
      "git config alias.x '!sh'",
      "git config core.sshCommand ./x",
    ],
    misses: [
      "git config user.name dev",
      "git config --global core.pager cat",
      "git config --get core.editor",
      "git config alias.st status",
    ],
    check: configures,
  },
];
