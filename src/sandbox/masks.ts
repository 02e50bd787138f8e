// What no command in a sandbox gets to see, and what it may not change, besides what its owner names.
import { join } from "node:path";

export interface Secret {
  /** From the home directory. */
  readonly path: string;
  readonly kind: "directory" | "file";
}

/** Keys, tokens and sessions that programs keep in the home directory. */
const SECRETS: readonly Secret[] = [
  { path: ".ssh", kind: "directory" },
  { path: ".aws", kind: "directory" },
  { path: ".azure", kind: "directory" },
  { path: ".gnupg", kind: "directory" },
  { path: ".kube", kind: "directory" },
  { path: ".docker", kind: "directory" },
  { path: ".password-store", kind: "directory" },
  { path: ".config/gcloud", kind: "directory" },
  { path: ".config/gh", kind: "directory" },
  { path: ".config/op", kind: "directory" },
  { path: ".config/containers", kind: "directory" },
  { path: ".local/share/keyrings", kind: "directory" },
  // Our own rules: a command that reads them learns how to get around them.
  { path: ".config/nacre", kind: "directory" },
  { path: ".netrc", kind: "file" },
  { path: ".npmrc", kind: "file" },
  { path: ".pypirc", kind: "file" },
  { path: ".git-credentials", kind: "file" },
  { path: ".pgpass", kind: "file" },
  { path: ".cargo/credentials.toml", kind: "file" },
];

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

export function secretsOf(homes: readonly string[]): Secret[] {
  return homes.flatMap((home) => SECRETS.map(({ path, kind }) => ({ path: join(home, path), kind })));
}

export function startupFilesOf(homes: readonly string[]): string[] {
  return homes.flatMap((home) => STARTUP_FILES.map((path) => join(home, path)));
}
