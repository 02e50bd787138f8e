// The home directory of this user.
import { homedir } from "node:os";
import { attempt } from "./attempt.ts";

/** As in bash: `/` if neither HOME nor the user database has one, as for an arbitrary uid in a container. */
export function homeDirectory(ask: () => string = homedir): string {
  return attempt(ask) ?? "/";
}
