// `nacre config`: prints the effective settings and the origin of each, and checks the rule files.
import type { Command } from "commander";
import { PolicyFiles } from "../../execution/policy-files.ts";
import { shownPath } from "../../support/path-text.ts";
import type { CliIo } from "../cli-io.ts";
import { colorsFor } from "../colors.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../print.ts";
import type { SettingValues } from "../setting-names.ts";
import { effectiveSettings, givenFlags } from "../settings.ts";
import { table } from "../table.ts";

export async function printConfig(
  io: CliIo,
  command: Command,
  { json, ...options }: SettingValues & { readonly json?: boolean },
): Promise<number> {
  const settings = await effectiveSettings(givenFlags(command, options), io.cwd);
  if (json) printJson(io, settings);
  else printTable(io, settings);
  // Throws if a rule file is invalid: then run, check and mcp refuse every command.
  new PolicyFiles({}).rulesFor(io.cwd);
  return EXIT.ok;
}

function printTable(io: CliIo, settings: object): void {
  const colors = colorsFor(io);
  const columns = [
    { title: "SETTING", cell: ([name]: Row) => name },
    { title: "VALUE", cell: ([, { value }]: Row) => shownValue(value) },
    { title: "ORIGIN", cell: ([, { origin }]: Row) => shownPath(origin) },
  ];
  io.stdout.write(table(Object.entries(settings), columns, { paintTitle: (title) => colors.bold(title) }));
}

type Row = [string, { readonly value: string | readonly string[]; readonly origin: string }];

function shownValue(value: string | readonly string[]): string {
  if (typeof value === "string") return value === "" ? "none" : value;
  return value.length === 0 ? "none" : value.join(", ");
}
