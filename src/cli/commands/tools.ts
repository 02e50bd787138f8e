// `nacre tools`: the tools as a provider wants them described. Starts nothing.
import { registerExecutionTools, registerModesTool } from "../../execution/register.ts";
import { ToolRegistry } from "../../tool/registry.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { DialectWord, Format } from "../option.ts";

export interface ToolsOptions {
  readonly dialect: DialectWord;
  readonly format: Format;
}

export function printTools(io: CliIo, { dialect, format }: ToolsOptions): number {
  const registry = new ToolRegistry();
  if (dialect === "modes") registerModesTool(registry, { workingDir: io.cwd });
  else registerExecutionTools(registry);
  io.stdout.write(`${JSON.stringify(registry.getAllSchemas(format), null, 2)}\n`);
  return EXIT.ok;
}
