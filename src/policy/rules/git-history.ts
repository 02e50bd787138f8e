// git commands that rewrite history, discard work, or make git run a program later.

import type { JudgedCommand } from "../facts.ts";
import { type GitCall, isExecutedSetting, readGit } from "../programs/git.ts";
import type { Hit, Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const has = (args: readonly string[], pattern: RegExp) => args.some((arg) => pattern.test(arg));
const force = /^(-\w*f\w*|--force)$/;

const dryRun = /^(-n|--dry-run)$/;

/** The conditions under which a subcommand loses work. All of them must be met. */
interface Loss {
  /** Completes the reason `git SUBCOMMAND would …`. */
  readonly consequence: string;
  /** Must match the first argument. */
  readonly first?: RegExp;
  /** Each pattern must match an argument. */
  readonly given?: readonly RegExp[];
  /** Must match no argument. */
  readonly unless?: RegExp;
  /** Replaces the alternative of the rule. */
  readonly alternative?: string;
}

const STASH_UNTRACKED =
  "Save the work first: git stash -u, which includes untracked files (git stash -a also includes ignored files).";
const UNCOMMITTED = "overwrite uncommitted changes";
const HISTORY: Loss = { consequence: "rewrite the whole history" };

const LOSSES: Readonly<Record<string, Loss>> = {
  reset: { given: [/^--(hard|merge|keep)$/], consequence: "discard uncommitted changes" },
  clean: {
    given: [force],
    unless: /^(-\w*n\w*|--dry-run)$/,
    consequence: "delete files that git does not track",
    alternative: STASH_UNTRACKED,
  },
  checkout: {
    given: [/^(-f|--force|--|\.|:\/|\*|-B)$/],
    unless: /^(-b|--orphan)$/,
    consequence: UNCOMMITTED,
  },
  switch: { given: [/^(-f|--force|--discard-changes|-C|--force-create)$/], consequence: UNCOMMITTED },
  push: {
    given: [/^(-\w*f\w*|--force(-.*)?|--force-with-lease(=.*)?|--mirror|--prune|-d|--delete)$|^\+|^:./],
    unless: dryRun,
    consequence: "rewrite or delete shared history",
    alternative:
      "Push to a new branch, or use git push --force-with-lease, which fails if the remote branch has commits you have not seen.",
  },
  branch: { given: [/^(-D|-M|-C|--force|-\w*f\w*)$/], consequence: "drop commits of a branch" },
  tag: { given: [/^(-d|--delete|-f|--force)$/], consequence: "drop a tag" },
  stash: { first: /^(drop|clear)$/, consequence: "drop stashed work" },
  reflog: { first: /^(expire|delete)$/, consequence: "delete the record of lost commits" },
  "checkout-index": { given: [force], consequence: UNCOMMITTED },
  "symbolic-ref": { given: [/^(-d|--delete)$/], consequence: "drop a reference" },
  "read-tree": { given: [/^(--reset|-u)$/], consequence: UNCOMMITTED },
  lfs: { first: /^prune$/, consequence: "delete unused large files" },
  "filter-branch": HISTORY,
  "filter-repo": HISTORY,
  gc: { given: [/^--prune(=(now|all))?$/], consequence: "delete unreachable commits" },
  prune: { unless: dryRun, consequence: "delete unreachable commits" },
  rebase: {
    given: [/^(--root|-x|--exec(=.*)?)$/],
    consequence: "rewrite the whole history or run a command on every commit",
  },
  worktree: {
    first: /^remove$/,
    given: [force],
    consequence: "delete a worktree with its changes",
    alternative: STASH_UNTRACKED,
  },
  submodule: { first: /^deinit$/, given: [force], consequence: "delete a submodule's changes" },
  rm: {
    given: [/^(-\w*r\w*|--force|-\w*f\w*)$/, /^(\.|\*|:\/|\uFDD2)$/],
    unless: /^(--cached|-n|--dry-run)$/,
    consequence: "delete every tracked file",
  },
  remote: { first: /^(set-url|remove|rm)$/, consequence: "change the remote of the repository" },
  replace: { given: [/(?:)/], unless: /^(-l|--list)$/, consequence: "replace commits" },
};

/** Long options that lose work. git accepts unique abbreviations: `--forc`. */
const LONG_OPTIONS = [
  "--hard",
  "--force",
  "--mirror",
  "--delete",
  "--discard-changes",
  "--worktree",
  "--prune",
];

const inFull = (arg: string): string =>
  (/^--\w{3}/.test(arg) ? LONG_OPTIONS.find((name) => name.startsWith(arg)) : undefined) ?? arg;

/** How the subcommand would lose work, or null. */
function lossOf({ verb, args }: GitCall): Pick<Loss, "consequence" | "alternative"> | null {
  if (verb === "restore") {
    const unstages = has(args, /^(--staged|-S)$/) && !has(args, /^(--worktree|-W)$/);
    return args.length > 0 && !unstages ? { consequence: UNCOMMITTED } : null;
  }
  if (verb === "update-ref")
    return has(args, /^(-d|--stdin)$/) || args.length > 1
      ? { consequence: "move or drop a reference" }
      : null;
  const loss = lossNamed(verb);
  if (!loss || (loss.first && !loss.first.test(args[0] ?? ""))) return null;
  if (loss.given?.some((pattern) => !has(args, pattern)) || (loss.unless && has(args, loss.unless)))
    return null;
  return loss;
}

const lossNamed = (verb: string): Loss | undefined =>
  Object.hasOwn(LOSSES, verb) ? LOSSES[verb] : undefined;

/** Settings that make git lose work without --force. */
const LOOSENED =
  /(?:^| )(?:clean\.requireforce[= ](?:false|no|off|0)|remote\.\S{1,80}\.(?:push[= ]\+|mirror[= ](?:true|yes|on|1)))/i;

function losesWork(command: JudgedCommand): Hit | null {
  const call = readGit(command.args);
  if (call.args.includes("--help")) return null;
  const words = command.args.map(({ text }) => text).join(" ");
  const loss =
    lossOf({ verb: call.verb, args: call.args.map(inFull) }) ??
    (LOOSENED.test(words)
      ? { ...lossNamed(call.verb), consequence: "lose work even without --force" }
      : null);
  if (loss === null) return null;
  const { consequence, alternative } = loss;
  return {
    reason: `git ${call.verb} would ${consequence}.`,
    ...(alternative === undefined ? {} : { alternative }),
  };
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
      "git push --forc origin main",
      "git reset --har",
      "git -c clean.requireForce=false clean -dx",
      "git config remote.origin.push '+refs/heads/*:refs/heads/*'",
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
      "git push --follow-tags",
      "git config remote.origin.push refs/heads/main",
      "git push -u origin main",
      "git reset HEAD~1",
      "git clean -nfd",
      "git checkout -b x",
      "git branch -d merged",
      "git stash pop",
      "git restore --staged a",
      "git commit -m 'reset --hard'",
    ],
    check: losesWork,
  },
  {
    id: "lose-work",
    verdict: "ask",
    severity: "medium",
    alternative: "Save a copy or a branch of the work first.",
    matches: ["hg update -C", "svn revert -R .", "bfg --delete-files x.pem", "jj abandon @"],
    misses: ["hg status", "svn update", "jj log"],
    check: onRows({
      "discard changes": [
        {
          program: /^(hg|chg)$/,
          args: /^(strip|purge|rollback|debugstrip|(update|up|co|checkout) .*(-C|--clean)|revert .*(-a|--all|\.))/,
        },
        { program: /^svn$/, args: /^(revert|cleanup .*--remove|delete http|rm http)/ },
        {
          program: /^jj$/,
          args: /^(abandon|op(eration)? (restore|undo)|restore|git push .*(--deleted|--all))/,
        },
      ],
      "rewrite the whole history": [{ program: /^(bfg|git-filter-repo)$/, args: /\S/ }],
    }),
  },
  {
    id: "git-run-later",
    verdict: "ask",
    severity: "high",
    alternative: "Let the user change settings that name programs.",
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
