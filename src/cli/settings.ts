// The settings of the program. Flags override the environment, and the environment overrides the user's config.json. A
// workspace's config.json can only make the result stricter.
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Command } from "commander";
import { NacreError } from "../support/errors.ts";
import { fsPath } from "../support/path-text.ts";
import { policyFolders, SETTINGS_FILE, userConfigFile } from "../support/policy-places.ts";
import {
  isListSetting,
  isPathSetting,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  type SettingValues,
  valuesOfSetting,
  variableOfSetting,
} from "./setting-names.ts";

export type EffectiveSettings = {
  readonly [N in SettingName]: {
    readonly value: Settings[N];
    /** "default", "flag", "environment", or the path of a file. */
    readonly origin: string;
  };
};

type SettingValue = string | readonly string[];

const DEFAULTS: Settings = {
  policy: "standard",
  sandbox: "off",
  network: "none",
  shellProfile: "none",
  with: [],
  remotes: [],
  auditFile: "",
};

/** `flags`: only the flags on the command line, without defaults. */
export async function effectiveSettings(flags: SettingValues, workspace: string): Promise<EffectiveSettings> {
  const user = userConfigFile(SETTINGS_FILE);
  const layers: [string, SettingValues][] = [
    ["default", DEFAULTS],
    [user, await settingsIn(user)],
    ["environment", settingsOfEnvironment()],
    ["flag", flags],
  ];
  const found = Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const [origin, values] = layers.findLast(([, layer]) => layer[name] !== undefined) ?? [
        "default",
        DEFAULTS,
      ];
      return [name, { value: values[name], origin }];
    }),
  ) as Record<SettingName, { value: SettingValue; origin: string }>;
  for (const folder of policyFolders(workspace)) {
    const file = join(folder, SETTINGS_FILE);
    const values = await settingsIn(file);
    for (const name of SETTING_NAMES) {
      const wanted = values[name];
      const value = wanted === undefined ? undefined : stricterValue(name, found[name].value, wanted);
      if (value !== undefined) found[name] = { value, origin: file };
    }
  }
  return found as EffectiveSettings;
}

/** Returns the command's options. Every setting that the command has as an option gets its effective value. */
export async function settle<Options extends SettingValues>(
  command: Command,
  options: Options,
  workspace: string,
): Promise<Options> {
  const settings = await effectiveSettings(givenFlags(command, options), workspace);
  const { policy, sandbox, network } = settings;
  // nacre refuses the network option without a sandbox, so apply this setting only with a sandbox.
  const withNetwork = sandbox.value !== "off" && network.origin !== "default";
  return {
    ...options,
    policy: policy.value,
    ...(hasOption(command, "with") ? { with: settings.with.value } : {}),
    ...(hasOption(command, "auditFile") && settings.auditFile.value !== ""
      ? { auditFile: settings.auditFile.value }
      : {}),
    ...(hasOption(command, "shellProfile") ? { shellProfile: settings.shellProfile.value } : {}),
    ...("sandbox" in options ? { sandbox: sandbox.value } : {}),
    ...("sandbox" in options && withNetwork ? { network: network.value } : {}),
  };
}

function hasOption(command: Command, name: SettingName): boolean {
  return command.options.some((option) => option.attributeName() === name);
}

export function givenFlags(command: Command, options: SettingValues): SettingValues {
  const given = SETTING_NAMES.filter((name) => command.getOptionValueSource(name) === "cli");
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

function settingsOfEnvironment(): SettingValues {
  const entries = SETTING_NAMES.flatMap((name) => {
    const variable = variableOfSetting(name);
    const text = process.env[variable];
    if (text === undefined || text === "") return [];
    if (isPathSetting(name)) {
      if (isAbsolute(text)) return [[name, text]];
      throw new NacreError(
        "invalid_input",
        `The variable ${variable} is ${JSON.stringify(text)}: it must be an absolute path.`,
      );
    }
    const choices = valuesOfSetting(name);
    // An address can contain a comma, but no space.
    if (!choices) return [[name, text.trim().split(/\s+/)]];
    const values = isListSetting(name) ? text.split(",").map((value) => value.trim()) : [text];
    const wrong = values.find((value) => !choices.includes(value));
    if (wrong === undefined) return [[name, isListSetting(name) ? values : text]];
    throw new NacreError(
      "invalid_input",
      `The variable ${variable} is ${JSON.stringify(text)}: ${isListSetting(name) ? "each value" : "it"} must be one of ${choices.join(", ")}.`,
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

/** The current value, made as strict as `wanted`; undefined if `wanted` is not stricter. */
function stricterValue(
  name: SettingName,
  current: SettingValue,
  wanted: SettingValue,
): SettingValue | undefined {
  if (isPathSetting(name)) return undefined;
  if (Array.isArray(current)) {
    const kept = current.filter((value) => wanted.includes(value));
    return kept.length < current.length ? kept : undefined;
  }
  const values: readonly SettingValue[] = valuesOfSetting(name) ?? [];
  return values.indexOf(wanted) > values.indexOf(current) ? wanted : undefined;
}
