// `nacre config`: prints the effective settings and the origin of each.
import type { Command } from "commander";
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
  if (json) {
    printJson(io, settings);
    return EXIT.ok;
  }
  const colors = colorsFor(io);
  const columns = [
    { title: "SETTING", cell: ([name]: Row) => name },
    { title: "VALUE", cell: ([, { value }]: Row) => shownValue(value) },
    { title: "ORIGIN", cell: ([, { origin }]: Row) => shownPath(origin) },
  ];
  io.stdout.write(table(Object.entries(settings), columns, { paintTitle: (title) => colors.bold(title) }));
  return EXIT.ok;
}

type Row = [string, { readonly value: string | readonly string[]; readonly origin: string }];

function shownValue(value: string | readonly string[]): string {
  if (typeof value === "string") return value === "" ? "none" : value;
  return value.length === 0 ? "none" : value.join(", ");
}
