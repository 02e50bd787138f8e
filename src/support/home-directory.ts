// The home directory of this user.
import { homedir } from "node:os";
import { attempt } from "./attempt.ts";

/** Like bash, falls back to `/` if neither HOME nor the user database has one: a uid in a container can be unknown. */
export function homeDirectory(ask: () => string = homedir): string {
  return attempt(ask) ?? "/";
}
