// Programs that the policy does not know. In every profile, the policy asks about protected paths in their arguments,
// risky verbs and dangerous commands that they may run. With the profile `cautious`, the policy asks about every such
// program outside a sandbox.

import { asksForHelp } from "../facts.ts";
import { PATH_CLASSES } from "../paths/path-class.ts";
import { isKnownProgram, isShell, isWrapper, programNamed } from "../programs/programs.ts";
import { isReader } from "../programs/readers.ts";
import { onEffect, onPrograms, type Rule, type RuleBase } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";

const RUNS_FILES = /^(python[\d.]*|node|ruby|perl|php|lua|deno|bun|tsx|ts-node|source|\.)$/;

/** Subcommands that usually destroy, send or publish something. */
const RISKY_VERB =
  /^(\w+[:_-])?(delete|destroy|terminate|purge|drop|wipe|nuke|flush|truncate|decommission|deprovision|erase|obliterate|factory-reset|apply|upload|push|send|transfer|revert|strip|seal|revoke|refund|unlock|deploy|publish|uninstall|submit|withdraw|mput|undeploy|detach|evict|drain|shutdown|poweroff|reboot)([:_-]\w+)?$/i;

const isUnfamiliarName = (name: string): boolean =>
  !isKnownProgram(name) &&
  !isWrapper(name) &&
  !isReader(name) &&
  Object.keys(programNamed(name)).length === 0;

/** This rule needs the findings of all other rules, so judge.ts applies it. */
export const FORWARDED_RULE: RuleBase = {
  id: "forwarded-danger",
  verdict: "ask",
  severity: "high",
  alternative: "Run the inner command directly, so that the policy can judge it.",
  matches: ["mywrapper rm -rf /", "runit -x -- chmod -R 777 /"],
  misses: ["mywrapper rm -rf build", "echo rm -rf /", "frobnicate rm"],
};

export const unfamiliarRules: readonly Rule[] = [
  {
    id: "unfamiliar-program",
    verdict: "ask",
    severity: "low",
    alternative: "Read the program first, or run it in a sandbox.",
    profile: "cautious",
    matches: ["./x.sh", "frobnicate --all", "bash scripts/build.sh", "python3 x.py"],
    misses: ["ls -la", "git status", "python3 --version", "npm test"],
    check: (command) => {
      const isUnknown = !isKnownProgram(command.program) && !isWrapper(command.program);
      const isOutsideBin =
        command.called.includes("/") && !/^\/(usr\/)?(local\/)?s?bin\//.test(command.called);
      const runsFile =
        (RUNS_FILES.test(command.program) || isShell(command.program)) &&
        /^[^-]/.test(command.args[0]?.text ?? "-");
      if (asksForHelp(command) || !(isUnknown || isOutsideBin || runsFile)) return null;
      const { called, args } = command;
      if (!isUnknown && !isOutsideBin)
        return {
          reason: `The policy does not know what ${shown(called)} ${shown(args[0]?.text ?? "")} does.`,
        };
      return { reason: `${shown(called)} is not a program that the policy knows.` };
    },
  },
  {
    id: "unexplained-path",
    verdict: "ask",
    severity: "high",
    alternative: "Use a path inside the workspace, or a program that only reads: cat, cp, diff.",
    matches: [
      "frobnicate /etc/hosts",
      "frobnicate --cache=/etc/cron.d",
      "frobnicate ~/Documents",
      "bundletool a.aab /etc/b",
      "rsync --frob=/etc/x a b",
      "bash tool.sh ~/.bashrc",
    ],
    misses: [
      "frobnicate dist /tmp/x",
      "frobnicate --config /etc/frob.conf",
      "ls /etc",
      "grep root /etc/passwd",
      "gcc -I/usr/include/x -c a.c",
      "docker exec web ls /etc",
      "ffmpeg -i ~/a.mp4 b.mp4",
    ],
    check: onEffect({
      kinds: ["may-write"],
      classes: PATH_CLASSES,
      reason: "The policy does not know what {program} does with {path}; it may write there.",
    }),
  },
  {
    id: "unfamiliar-verb",
    verdict: "ask",
    severity: "medium",
    alternative: "List what the command would delete (list, --dry-run), and let the user delete it.",
    matches: ["frobctl bucket delete -n telemetry", "frobctl project destroy x", "frob -A app purge -f"],
    misses: [
      "frobctl bucket list",
      "frobctl project destroy x --dry-run",
      "frobnicate deleted.txt",
      "./tool delete x",
    ],
    check: onPrograms(isUnfamiliarName, (command) => {
      const { program, called, args } = command;
      if (command.isDefined || called.includes("/") || asksForHelp(command)) return null;
      if (args.some(({ text }) => /^(--?dry-?run|--what-if|--plan)/.test(text))) return null;
      const verb = args
        .filter(({ text }) => !text.startsWith("-"))
        .slice(0, 4)
        .find(({ text }) => RISKY_VERB.test(text));
      return verb
        ? {
            reason: `${shown(program)} would ${shown(verb.text)} something, and the policy does not know what.`,
            span: verb.span,
          }
        : null;
    }),
  },
  FORWARDED_RULE,
];
