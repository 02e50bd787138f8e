// The home of this user.
import { homedir } from "node:os";

/** As bash sees it: the root where neither HOME nor the user database names one, as for any number in a container. */
export function homeDirectory(ask: () => string = homedir): string {
  try {
    return ask();
  } catch {
    return "/";
  }
}
