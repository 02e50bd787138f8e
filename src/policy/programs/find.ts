// Programs that search the file system, and programs that run a command for each item.

import { effectsOn } from "./effect.ts";
import { listsProcesses, namesProcesses } from "./print-texts.ts";
import type { Program, ProgramFamily } from "./program-record.ts";
import { foundPaths, readFind, runFd, runFind } from "./runs/find-expression.ts";
import { runParallel, runXargs } from "./runs/items.ts";

const FIND: Program = {
  effects: (_options, { args }) => {
    const search = readFind(args);
    if (!search.expression.some(({ text }) => text === "-delete")) return [];
    return effectsOn(foundPaths(search), "delete", { recursive: true, how: "find" });
  },
  runs: runFind,
};

const XARGS: Program = {
  options: { values: "-aEILnPsd arg-file delimiter max-args max-procs max-lines max-chars replace" },
  runs: runXargs,
};

export const find: ProgramFamily = {
  familiar: "fd fdfind find locate whereis xargs",
  programs: {
    find: {
      ...FIND,
      effects: (options, command) => [
        ...(FIND.effects?.(options, command) ?? []),
        ...command.args.flatMap(({ text }, i) =>
          /^-f(print0?|printf|ls)$/.test(text) ? effectsOn(command.args.slice(i + 1, i + 2), "write") : [],
        ),
      ],
      prints: listsProcesses(({ args }) => namesProcesses(args)),
    },
    "gfind bfs": FIND,
    "fd fdfind": {
      options: { values: "-dtEecjS max-depth type exclude extension base-directory" },
      runs: runFd,
    },
    xargs: { ...XARGS, reads: true },
    gxargs: XARGS,
    "parallel env_parallel": {
      options: { values: "-jNnLIdaCE jobs delay retries timeout colsep joblog arg-file block" },
      runs: runParallel,
    },
  },
};
