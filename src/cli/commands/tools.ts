// `nacre tools`: prints the tool schemas in a provider's format.
import { registerExecutionTools, registerModesTool } from "../../execution/register.ts";
import { ToolRegistry } from "../../tool/registry.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { DialectName, Format } from "../option.ts";

export interface ToolsOptions {
  readonly dialect: DialectName;
  readonly format: Format;
}

export function printTools(io: CliIo, { dialect, format }: ToolsOptions): number {
  const registry = new ToolRegistry();
  if (dialect === "modes") registerModesTool(registry, { workingDir: io.cwd });
  else registerExecutionTools(registry);
  io.stdout.write(`${JSON.stringify(registry.getAllSchemas(format), null, 2)}\n`);
  return EXIT.ok;
}
