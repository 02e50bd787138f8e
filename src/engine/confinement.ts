// The confinement of a shell, as its meta file records it for every program that finds the shell.

export const SANDBOX_PROFILES = ["off", "read-only", "workspace-write"] as const;
export type SandboxProfile = (typeof SANDBOX_PROFILES)[number];

export const NETWORK_ACCESS = ["none", "full"] as const;
export type NetworkAccess = (typeof NETWORK_ACCESS)[number];

export interface Confinement {
  readonly driver: "bubblewrap" | "none";
  /** The profile in force, not the one requested. */
  readonly profile: SandboxProfile;
  readonly network: NetworkAccess;
  /** Requested restrictions that are not enforced, as text. If this is empty, all are enforced. */
  readonly notEnforced: readonly string[];
}

/** Describes the confinement in one line, for the result of a command. */
export function describeConfinement({ profile, network, notEnforced }: Confinement): string {
  const text = profile === "off" ? "off" : `${profile}, network ${network}`;
  return notEnforced.length === 0 ? text : `${text} (not enforced: ${notEnforced.join("; ")})`;
}
