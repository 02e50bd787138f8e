// Unknown programs and scripts. Only the profile `cautious` asks about them, and only without a sandbox.

import { asksForHelp } from "../facts.ts";
import { isKnownProgram, isShell, isWrapper } from "../programs/programs.ts";
import type { Rule } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";

const RUNS_FILES = /^(python[\d.]*|node|ruby|perl|php|lua|deno|bun|tsx|ts-node|source|\.)$/;

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
      const unknown = !isKnownProgram(command.program) && !isWrapper(command.program);
      const path = command.called.includes("/") && !/^\/(usr\/)?(local\/)?s?bin\//.test(command.called);
      const runsFile =
        (RUNS_FILES.test(command.program) || isShell(command.program)) &&
        /^[^-]/.test(command.args[0]?.text ?? "-");
      if (asksForHelp(command) || !(unknown || path || runsFile)) return null;
      return { reason: `${shown(command.called)} is not a program the policy knows.` };
    },
  },
  {
    id: "forwarded-danger",
    verdict: "ask",
    severity: "high",
    alternative: "Run the inner command directly, so that it can be judged.",
    matches: ["mywrapper rm -rf /", "runit -x -- chmod -R 777 /"],
    misses: ["mywrapper rm -rf build", "echo rm -rf /", "frobnicate rm"],
    // judge.ts checks this, because it needs all other rules.
    check: () => null,
  },
];
