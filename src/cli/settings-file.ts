// Reads one config.json: JSON with comments. An invalid file is an error and is never ignored.
import { readFileSync } from "node:fs";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { z } from "zod";
import { messageOf, NacreError } from "../support/errors.ts";
import { nearest } from "../support/nearest.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { SETTINGS, type SettingName, type SettingValues } from "./setting-names.ts";

const choice = (name: SettingName) =>
  z.enum(SETTINGS[name] as readonly string[], { error: `one of ${SETTINGS[name].join(", ")}` });

const SCHEMA = z
  .strictObject({ policy: choice("policy"), sandbox: choice("sandbox"), network: choice("network") })
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
    const known = Object.keys(SETTINGS);
    const near = nearest(name, known);
    throw unusable(
      file,
      `There is no setting ${name}. ${near === undefined ? `There are: ${known.join(", ")}.` : `Did you mean ${near}?`}`,
    );
  }
  const name = issue?.path.join(".") ?? "";
  throw unusable(
    file,
    name === "" ? "It must be one JSON object." : `The setting ${name} must be ${issue?.message}.`,
  );
}

function unusable(file: string, why: string, cause?: unknown): NacreError {
  return new NacreError(
    "invalid_input",
    `The settings file ${shownPath(file)} cannot be used, and nothing runs without it. ${why}`,
    { cause },
  );
}
