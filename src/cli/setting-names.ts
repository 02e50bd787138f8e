// The names and values of the settings.
import type { NetworkAccess, SandboxProfile } from "../engine/confinement.ts";
import { TOOL_GROUPS, type ToolGroup } from "../toolkit/toolkit-options.ts";
import { POLICIES } from "./option.ts";

/** Settings with one value. The values run from the loosest to the strictest. */
export const CHOICE_SETTINGS = {
  policy: POLICIES,
  sandbox: ["off", "workspace-write", "read-only"],
  network: ["full", "none"],
  shellProfile: ["user", "none"],
} as const satisfies {
  policy: readonly string[];
  sandbox: readonly SandboxProfile[];
  network: readonly NetworkAccess[];
  shellProfile: readonly string[];
};

/** Settings with a list of values. A shorter list is stricter. */
export const LIST_SETTINGS = { with: TOOL_GROUPS } as const satisfies { with: readonly ToolGroup[] };

/** Settings with a list of addresses. A shorter list is stricter: an address names a program that nacre starts. */
export const ADDRESS_SETTINGS = ["remotes"] as const;

/** Settings with an absolute path; "" means none. A workspace cannot change them, because nacre writes to the file. */
export const PATH_SETTINGS = ["auditFile"] as const;

export type ChoiceName = keyof typeof CHOICE_SETTINGS;
export type ListName = keyof typeof LIST_SETTINGS;
export type AddressName = (typeof ADDRESS_SETTINGS)[number];
export type PathName = (typeof PATH_SETTINGS)[number];
export type SettingName = ChoiceName | ListName | AddressName | PathName;

export type Settings = { readonly [N in ChoiceName]: (typeof CHOICE_SETTINGS)[N][number] } & {
  readonly [N in ListName]: readonly (typeof LIST_SETTINGS)[N][number][];
} & { readonly [N in AddressName]: readonly string[] } & { readonly [N in PathName]: string };
/** The settings that one source defines. */
export type SettingValues = Partial<Settings>;

export const SETTING_NAMES = [
  ...Object.keys(CHOICE_SETTINGS),
  ...Object.keys(LIST_SETTINGS),
  ...ADDRESS_SETTINGS,
  ...PATH_SETTINGS,
] as SettingName[];

export function isListSetting(name: SettingName): name is ListName {
  return Object.hasOwn(LIST_SETTINGS, name);
}

/** The environment variable that overrides a setting, such as NACRE_SHELL_PROFILE. */
export function variableOfSetting(name: SettingName): string {
  return `NACRE_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

export function isAddressSetting(name: SettingName): name is AddressName {
  return ADDRESS_SETTINGS.some((one) => one === name);
}

export function isPathSetting(name: SettingName): name is PathName {
  return PATH_SETTINGS.some((one) => one === name);
}

/** The valid values of a setting; undefined if they are not a fixed set. */
export function valuesOfSetting(name: SettingName): readonly string[] | undefined {
  if (isAddressSetting(name) || isPathSetting(name)) return undefined;
  return isListSetting(name) ? LIST_SETTINGS[name] : CHOICE_SETTINGS[name];
}
