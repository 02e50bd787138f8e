// `nacre tools`: prints the tool schemas in a provider's format.

import { registerExecutionTools, registerModesTool, registerPreviewTool } from "../../execution/register.ts";
import { registerFileTools } from "../../files/register-files.ts";
import { ToolRegistry } from "../../tool/registry.ts";
import type { ToolGroup } from "../../toolkit/toolkit-options.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { DialectName, Format } from "../option.ts";

export interface ToolsOptions {
  readonly dialect: DialectName;
  readonly format: Format;
  readonly with?: readonly ToolGroup[];
}

export function printTools(io: CliIo, { dialect, format, with: groups = [] }: ToolsOptions): number {
  const registry = new ToolRegistry();
  if (dialect === "modes") registerModesTool(registry, { workingDir: io.cwd });
  else
    registerExecutionTools(registry, {
      terminals: groups.includes("terminals"),
      withPreview: groups.includes("preview"),
    });
  if (groups.includes("files")) registerFileTools(registry);
  if (groups.includes("preview")) registerPreviewTool(registry);
  io.stdout.write(`${JSON.stringify(registry.getAllSchemas(format), null, 2)}\n`);
  return EXIT.ok;
}
