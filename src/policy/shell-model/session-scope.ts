// The scope at the start of a command: its directory, the links on disk, and the changes that earlier commands of the
// session made.

import type { Where } from "../paths/paths.ts";
import type { PolicyFacts } from "../verdict.ts";
import type { Budget } from "./budget.ts";
import { Directories } from "./directories.ts";
import { Links } from "./links.ts";
import { MadePaths } from "./made-paths.ts";
import { Names } from "./names.ts";
import { Files, Scope } from "./script-scope.ts";
import type { SessionFacts } from "./session-facts.ts";

export function startScope({ cwd, links, session }: PolicyFacts, where: Where, budget: Budget): Scope {
  const made = new MadePaths(new Links(where, cwd, budget, links));
  const scope = new Scope(new Directories([cwd]), new Files(), made, budget);
  if (session) applySession(scope, session, where);
  return scope;
}

function applySession(scope: Scope, session: SessionFacts, where: Where): void {
  const { functions, aliases, hashed, variables, shellOptions } = session;
  scope.names = new Names(new Set(functions), new Map(Object.entries(hashed)), new Set(shellOptions));
  for (const [name, text] of Object.entries(aliases)) scope.setAlias(name, text);
  const usual: Readonly<Record<string, string>> = {
    HOME: where.home,
    PWD: scope.cwds[0] ?? "",
    IFS: " \t\n",
  };
  for (const [name, value] of Object.entries(variables)) {
    // Do not assign default values. The scope derives PWD from the directory, and bash splits at the default IFS if IFS
    // is unset.
    if (value === usual[name] || (name === "IFS" && value === null)) continue;
    scope.assign(name, [value ?? ""]);
  }
}
