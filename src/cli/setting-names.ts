// The names and values of the settings.
import type { NetworkAccess, SandboxProfile } from "../engine/confinement.ts";
import { POLICIES } from "./option.ts";

/** The values of each setting, from the loosest to the strictest. */
export const SETTINGS = {
  policy: POLICIES,
  sandbox: ["off", "workspace-write", "read-only"],
  network: ["full", "none"],
} as const satisfies {
  policy: readonly string[];
  sandbox: readonly SandboxProfile[];
  network: readonly NetworkAccess[];
};

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [N in SettingName]?: (typeof SETTINGS)[N][number] };
