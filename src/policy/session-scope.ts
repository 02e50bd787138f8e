// The state of a session as the scope its next command starts in.

import { Names } from "./names.ts";
import type { Where } from "./paths.ts";
import type { Scope } from "./script-scope.ts";
import type { SessionFacts } from "./session-facts.ts";

/** Puts into the scope what earlier commands of the session changed. */
export function applySession(scope: Scope, session: SessionFacts, where: Where): void {
  const { functions, aliases, hashed, variables, shellOptions } = session;
  scope.names = new Names(new Set(functions), new Map(Object.entries(hashed)), new Set(shellOptions));
  for (const [name, text] of Object.entries(aliases)) scope.setAlias(name, text);
  const usual: Readonly<Record<string, string>> = {
    HOME: where.home,
    PWD: scope.cwds[0] ?? "",
    IFS: " \t\n",
  };
  for (const [name, value] of Object.entries(variables)) {
    // An unset IFS splits like the usual one; bash itself answers for the usual values, also after a cd.
    if (value === usual[name] || (name === "IFS" && value === null)) continue;
    scope.assign(name, [value ?? ""]);
  }
}
