// The home directory of this user.
import { homedir } from "node:os";
import { attempt } from "./attempt.ts";

/** Falls back to `/`, like bash, if neither HOME nor the user database names one, as for some uids in containers. */
export function homeDirectory(ask: () => string = homedir): string {
  return attempt(ask) ?? "/";
}
