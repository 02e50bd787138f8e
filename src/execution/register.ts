// Registers the tools that run commands.
import type { ToolRegistry } from "../tool/registry.ts";
import { BashTool } from "./bash.ts";
import { BashInputTool } from "./bash-input.ts";
import { BashOutputTool } from "./bash-output.ts";
import type { ExecutionOptions } from "./execution-options.ts";
import { KillShellTool } from "./kill-shell.ts";
import { BashModesTool, type ModesOptions } from "./modes.ts";
import { PreviewTool } from "./preview-tool.ts";

/** Registers Bash, BashOutput and KillShell, and also BashInput with the option `terminals`. */
export function registerExecutionTools(registry: ToolRegistry, options: ExecutionOptions = {}): void {
  registry.registerMany([new BashTool(options), new BashOutputTool(options), new KillShellTool(options)]);
  if (options.terminals) registry.register(new BashInputTool(options));
}

/** Registers Preview. Bash has the parameter preview only with the option `withPreview`. */
export function registerPreviewTool(registry: ToolRegistry, options: ExecutionOptions = {}): void {
  registry.register(new PreviewTool(options));
}

/** Registers bash, the only tool of the `modes` dialect. */
export function registerModesTool(registry: ToolRegistry, options: ModesOptions = {}): void {
  registry.register(new BashModesTool(options));
}
