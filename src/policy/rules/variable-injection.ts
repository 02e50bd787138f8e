// Variables that make another program run code.

import type { Rule } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";
import { injectedVariable } from "../shell-model/variables.ts";
import { onRows } from "./tables.ts";

export const injectionRules: readonly Rule[] = [
  {
    id: "injected-variable",
    verdict: "ask",
    severity: "medium",
    alternative: "Run the program without the variable.",
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
        ? { reason: `${variable.name}=${shown(variable.value)} makes another program run or load code.` }
        : null;
    },
  },
  {
    id: "injected-setting",
    verdict: "ask",
    severity: "high",
    alternative: "Run the program directly, as a separate command.",
    matches: [
      "cargo --config 'build.rustc-wrapper=\"./x\"' build",
      "npm --script-shell=./x run a",
      "php -d auto_prepend_file=./x a.php",
      "sqlite3 a.db '.load ./x'",
      "enable -f ./x.so x",
    ],
    misses: [
      "cargo build --config net.offline=true",
      "npm run a",
      "php -d memory_limit=1G a.php",
      "enable -n test",
    ],
    check: onRows({
      "build with another program": [
        { program: /^cargo$/, args: /--config[ =]\S*(wrapper|runner|linker|rustc|rustdoc)\b/ },
      ],
      "run the package scripts with another shell": [
        { program: /^(npm|pnpm|yarn)$/, args: /--script-shell[ =]/ },
      ],
      "run another file first": [
        { program: /^php[\d.]*$/, args: /(^| )-d ?(auto_(pre|ap)pend_file|extension|zend_extension)=/ },
      ],
      "use another package registry from now on": [
        { program: /^pip[\d.]*$/, args: /^config set \S*index-url/ },
      ],
      "load code from a file": [{ program: /^sqlite3?$/, args: /(^| )\.load |load_extension\(/ }],
      "run a program on its output": [{ program: /^strace$/, args: /(^| )-o ?[|!]/ }],
      "run a command before it builds anything": [{ program: /^g?make$/, args: /--eval[ =].*\$\(shell/ }],
      "load code into the shell": [{ program: /^enable$/, args: /(^| )-f/ }],
    }),
  },
];
