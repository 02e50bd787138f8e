// Defines `nacre preview` and `nacre undo`.
import type { Command } from "commander";
import type { PreviewFlags } from "../commands/preview.ts";
import { cwdOption, examples, policyFileOption, policyOption } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { settle } from "../settings.ts";

export function definePreview(program: Command, { io, done }: ProgramOptions): void {
  const preview = program
    .command("preview")
    .description("list, show, commit or discard the previews of `nacre run --preview`")
    .addHelpText(
      "after",
      examples("run --preview 'rm -rf build'", "preview list", "preview commit preview_0a1b2c3d"),
    );
  preview
    .command("list")
    .description("list the previews")
    .option("--json", "print them as a JSON array")
    .action(async (options: PreviewFlags) => {
      const { printPreviews } = await import("../commands/preview.ts");
      done(await printPreviews(io, options));
    });
  const actions = {
    show: "list what a preview would change",
    diff: "show what a preview would change, as diff -u does",
    commit: "write the changes to the workspace, all or nothing",
    discard: "drop the changes",
  } as const;
  for (const [action, description] of Object.entries(actions)) {
    const command = preview
      .command(action)
      .description(description)
      .argument("<id>", "the id of the preview")
      .argument("[path...]", "only these files or directories, relative to the workspace")
      .option("--json", "print the result as one JSON object");
    if (action === "commit") command.addOption(policyOption()).addOption(policyFileOption(io.cwd));
    command.action(async (id: string, paths: string[], options: PreviewFlags) => {
      const { executePreview } = await import("../commands/preview.ts");
      const settled = action === "commit" ? await settle(command, options, io.cwd) : options;
      const chosen = paths.length === 0 ? undefined : paths;
      done(await executePreview(io, action as keyof typeof actions, id, chosen, settled));
    });
  }
  program
    .command("undo")
    .description("undo the commit of a preview, if nothing has changed since")
    .argument("[id]", "the id of the preview; without it, the newest commit in the directory")
    .addOption(cwdOption(io.cwd, "the workspace of the newest commit"))
    .option("--json", "print the result as one JSON object")
    .addHelpText("after", examples("undo", "undo preview_0a1b2c3d"))
    .action(async (id: string | undefined, options: PreviewFlags & { readonly cwd: string }) => {
      const { executeUndo } = await import("../commands/preview.ts");
      done(await executeUndo(io, id, options));
    });
}
