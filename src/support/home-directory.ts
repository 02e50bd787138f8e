// The home directory of this user.
import { homedir } from "node:os";
import { attempt } from "./attempt.ts";

/**
 * Falls back to `/`, like bash, if neither HOME nor the user database names a home directory. Some uids in
 * containers have none.
 */
export function homeDirectory(ask: () => string = homedir): string {
  return attempt(ask) ?? "/";
}
