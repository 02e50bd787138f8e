// Variables that make another program run code.

import { shown } from "../marks.ts";
import type { Rule } from "../rule.ts";
import { injectedVariable } from "../variables.ts";

export const injectionRules: readonly Rule[] = [
  {
    id: "injected-variable",
    verdict: "ask",
    severity: "medium",
    alternative: "Run the program without the variable, or name what it would load.",
    matches: [
      "LD_PRELOAD=./x.so ls",
      "env LD_LIBRARY_PATH=. ls",
      "export BASH_ENV=./x",
      "GIT_SSH_COMMAND=./x git fetch",
      "NODE_OPTIONS='--require ./x.js' npm test",
      "PAGER=./x git log",
      "LD_PRELOAD=./x.so",
    ],
    misses: [
      "CI=1 npm test",
      "PAGER=cat git log",
      "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
      "ENV=test npm start",
      "GIT_EDITOR=true git rebase --continue",
      "PYTHONPATH=src python3 -m pytest",
      "GIT_SSH_COMMAND='ssh -i key' git fetch",
    ],
    check: (command) => {
      const variable = injectedVariable(command);
      return variable
        ? { reason: `${variable.name}=${shown(variable.value)} makes another program run or load something.` }
        : null;
    },
  },
];
