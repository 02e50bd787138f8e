// Reads one config.json: JSON with comments. An invalid file is an error and is never ignored.
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { z } from "zod";
import { messageOf, NacreError } from "../support/errors.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { suggestion } from "./option.ts";
import {
  isListSetting,
  isPathSetting,
  SETTING_NAMES,
  type SettingName,
  type SettingValues,
  valuesOfSetting,
} from "./setting-names.ts";

const SCHEMA = z
  .strictObject(Object.fromEntries(SETTING_NAMES.map((name) => [name, schemaOfSetting(name)])))
  .partial();

export function readSettingsFile(file: string): SettingValues {
  let text: string;
  try {
    text = readFileSync(fsPath(file), "utf8").replace(/^\ufeff/, "");
  } catch (cause) {
    throw unusable(file, `It cannot be read: ${messageOf(cause)}.`, cause);
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [broken] = errors;
  if (broken) {
    const line = text.slice(0, broken.offset).split("\n").length;
    throw unusable(file, `Line ${line} is not JSON (${printParseErrorCode(broken.error)}).`);
  }
  const { data, error } = SCHEMA.safeParse(value);
  if (data) return data as SettingValues;
  const [issue] = error?.issues ?? [];
  if (issue?.code === "unrecognized_keys") {
    const [name = ""] = issue.keys;
    throw unusable(file, `There is no setting ${name}. ${suggestion(name, SETTING_NAMES)}`);
  }
  const name = String(issue?.path[0] ?? "");
  throw unusable(
    file,
    name === "" ? "It must be one JSON object." : `The setting ${name} must be ${issue?.message}.`,
  );
}

function schemaOfSetting(name: SettingName): z.ZodType {
  if (isPathSetting(name)) {
    const error = 'an absolute path such as "/var/log/nacre/audit.jsonl"';
    return z.string({ error }).refine((path) => isAbsolute(path), { error });
  }
  const values = valuesOfSetting(name);
  if (!values) {
    const error = 'a list of addresses such as "ssh://build-host"';
    return z.array(z.string({ error }), { error });
  }
  if (!isListSetting(name)) return z.enum(values, { error: `one of ${values.join(", ")}` });
  const error = `a list of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  return z.array(z.enum(values, { error }), { error });
}

function unusable(file: string, why: string, cause?: unknown): NacreError {
  return new NacreError(
    "invalid_input",
    `The settings file ${shownPath(file)} cannot be used, and nothing runs without it. ${why}`,
    { cause },
  );
}
