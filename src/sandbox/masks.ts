// What no command in a sandbox gets to see, and what it may not change, besides what its owner names.
import { join } from "node:path";
import { findCredentials, type Secret } from "./find-credentials.ts";
import type { SandboxSpec } from "./options.ts";

/** Our own rules: a command that reads them learns how to get around them. */
const OWN_RULES = ".config/nacre";

/** Read by shells, git and editors when the person comes back: with a writable home, a way out of the sandbox. */
const STARTUP_FILES = [
  ...[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
  ],
  ...[".gitconfig", ".config/git/config", ".config/fish/config.fish", ".inputrc", ".vimrc", ".mcp.json"],
];

export function secretsOf({ homes, credentials }: Pick<SandboxSpec, "homes" | "credentials">): Secret[] {
  const rules = homes.map((home) => ({ path: join(home, OWN_RULES), kind: "directory" }) as const);
  return [...findCredentials(homes, credentials), ...rules];
}

export function startupFilesOf(homes: readonly string[]): string[] {
  return homes.flatMap((home) => STARTUP_FILES.map((path) => join(home, path)));
}
