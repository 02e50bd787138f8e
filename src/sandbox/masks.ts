// What no command in a sandbox gets to see, besides what its owner names.
import { join } from "node:path";
import { findCredentials, type Secret } from "./find-credentials.ts";
import type { SandboxSpec } from "./sandbox-options.ts";

/** Our own rules: a command that reads them learns how to get around them. */
const OWN_RULES = ".config/nacre";

export function secretsOf({ homes, credentials }: Pick<SandboxSpec, "homes" | "credentials">): Secret[] {
  const rules = homes.map((home) => ({ path: join(home, OWN_RULES), kind: "directory" }) as const);
  return [...findCredentials(homes, credentials), ...rules];
}
