// The settings of the program: a flag wins over the environment, which wins over the user's config.json. A workspace's
// config.json can only make the result stricter.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { NacreError } from "../support/errors.ts";
import { fsPath } from "../support/path-text.ts";
import { policyFolders, SETTINGS_FILE, userConfigFile } from "../support/policy-places.ts";
import { SETTINGS, type SettingName, type SettingValues } from "./setting-names.ts";

export type EffectiveSettings = {
  readonly [N in SettingName]: {
    readonly value: (typeof SETTINGS)[N][number];
    /** "default", "flag", "environment", or the path of a file. */
    readonly origin: string;
  };
};

const DEFAULTS = { policy: "standard", sandbox: "off", network: "none" } as const;
const NAMES: readonly SettingName[] = ["policy", "sandbox", "network"];

/** `flags`: only the flags that were given. */
export async function effectiveSettings(flags: SettingValues, workspace: string): Promise<EffectiveSettings> {
  const user = userConfigFile(SETTINGS_FILE);
  const layers: [string, SettingValues][] = [
    ["default", DEFAULTS],
    [user, await settingsIn(user)],
    ["environment", settingsOfEnvironment()],
    ["flag", flags],
  ];
  const found = Object.fromEntries(
    NAMES.map((name) => {
      const [origin, values] = layers.findLast(([, layer]) => layer[name] !== undefined) ?? [
        "default",
        DEFAULTS,
      ];
      return [name, { value: values[name], origin }];
    }),
  ) as Record<SettingName, { value: string; origin: string }>;
  for (const folder of policyFolders(workspace)) {
    const file = join(folder, SETTINGS_FILE);
    const values = await settingsIn(file);
    for (const name of NAMES) {
      const wanted = values[name];
      if (wanted !== undefined && rankOf(name, wanted) > rankOf(name, found[name].value))
        found[name] = { value: wanted, origin: file };
    }
  }
  return found as EffectiveSettings;
}

/** Returns the command's options with policy, sandbox and network set to their effective values. */
export async function settle<Options extends SettingValues>(
  command: Command,
  options: Options,
  workspace: string,
): Promise<Options> {
  const { policy, sandbox, network } = await effectiveSettings(givenFlags(command, options), workspace);
  // nacre refuses the network option without a sandbox, so apply this setting only with a sandbox.
  const withNetwork = sandbox.value !== "off" && network.origin !== "default";
  return {
    ...options,
    policy: policy.value,
    ...("sandbox" in options ? { sandbox: sandbox.value } : {}),
    ...("sandbox" in options && withNetwork ? { network: network.value } : {}),
  };
}

export function givenFlags(command: Command, options: SettingValues): SettingValues {
  const given = NAMES.filter((name) => command.getOptionValueSource(name) === "cli");
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

function settingsOfEnvironment(): SettingValues {
  const entries = NAMES.flatMap((name) => {
    const variable = `NACRE_${name.toUpperCase()}`;
    const value = process.env[variable];
    if (value === undefined || value === "") return [];
    const choices: readonly string[] = SETTINGS[name];
    if (choices.includes(value)) return [[name, value]];
    throw new NacreError(
      "invalid_input",
      `The variable ${variable} is ${JSON.stringify(value)}: it must be one of ${choices.join(", ")}.`,
    );
  });
  return Object.fromEntries(entries);
}

/** Loads the parser only if the file exists. */
async function settingsIn(file: string): Promise<SettingValues> {
  if (!existsSync(fsPath(file))) return {};
  const { readSettingsFile } = await import("./settings-file.ts");
  return readSettingsFile(file);
}

function rankOf(name: SettingName, value: string): number {
  const values: readonly string[] = SETTINGS[name];
  return values.indexOf(value);
}
