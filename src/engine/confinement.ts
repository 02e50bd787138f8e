// What a shell was confined to, as it stands in its meta: every program that finds the shell can say so.

export const SANDBOX_PROFILES = ["off", "read-only", "workspace-write"] as const;
export type SandboxProfile = (typeof SANDBOX_PROFILES)[number];

export const NETWORK_ACCESS = ["none", "full"] as const;
export type NetworkAccess = (typeof NETWORK_ACCESS)[number];

export interface Confinement {
  readonly driver: "bubblewrap" | "none";
  /** What it runs under, not what was asked for. */
  readonly profile: SandboxProfile;
  readonly network: NetworkAccess;
  /** What was asked for and is not enforced, in words. Empty: all of it is. */
  readonly notEnforced: readonly string[];
}

/** One line for a result. */
export function describeConfinement({ profile, network, notEnforced }: Confinement): string {
  const words = profile === "off" ? "off" : `${profile}, network ${network}`;
  return notEnforced.length === 0 ? words : `${words} (not enforced: ${notEnforced.join("; ")})`;
}
