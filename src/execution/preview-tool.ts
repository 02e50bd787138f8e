// The Preview tool: shows what a previewed command would change, commits or discards it, and undoes a commit.
import { z } from "zod";
import { PreviewConflict } from "../preview/conflicts.ts";
import { countsOf } from "../preview/describe-changes.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { PREVIEW_PATHS_MAX_COUNT } from "../support/limits.ts";
import { wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import {
  commitAdmitted,
  diffPreview,
  discardPreview,
  type PreviewCall,
  type ShownPreview,
  showPreview,
  undoPreview,
} from "./preview-actions.ts";
import { type PreviewMetadata, previewMetadata } from "./preview-metadata.ts";
import { previewLines } from "./preview-result.ts";
import { type RefusalMetadata, refusalMetadata } from "./refusal.ts";
import { sanitizerFor } from "./render.ts";
import { scopeOf } from "./scope.ts";

const INPUT = z.object({
  preview_id: z.string().min(1).describe("The id from the result of Bash with preview"),
  action: z
    .enum(["show", "diff", "commit", "discard", "undo"])
    .describe("commit writes the changes; undo takes a commit back"),
  paths: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("Only these files or directories, relative to the workspace. Not for undo."),
});

export type PreviewArguments = z.input<typeof INPUT>;

export interface PreviewToolMetadata extends Partial<PreviewMetadata>, RefusalMetadata {
  readonly action: PreviewArguments["action"];
  /** Paths that have changed since the preview. If there are any, nothing was written. */
  readonly conflicts?: readonly { readonly path: string; readonly what: string }[];
}

export class PreviewTool extends BaseTool<typeof INPUT, PreviewToolMetadata> {
  readonly name = "Preview";
  override readonly title = "Commit or discard a preview";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { destructiveHint: true };
  readonly description = `Handles the result of Bash with preview: true.

show lists the changes, diff shows them as text, commit writes them to the workspace, discard drops them, undo takes a commit back. commit writes all or nothing: if a file has changed since the preview, it names the file and writes nothing. A command that needs approval needs it at the commit.`;
  readonly input = INPUT;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
  }

  protected async run(
    context: ExecutionContext,
    { preview_id: id, action, paths }: z.output<typeof INPUT>,
  ): Promise<ToolResult<PreviewToolMetadata>> {
    const call = { context, options: this.#options, scope: scopeOf(context) };
    if (context.dryRun && action !== "show" && action !== "diff") {
      return ToolResult.ok(`[Dry Run] Would ${action} ${id}`, { action, preview_id: id });
    }
    if (action === "undo") {
      const { paths: restored } = await undoPreview(id, call);
      return ToolResult.ok(`Undone: ${restored.length} paths are as they were before the commit of ${id}.`, {
        action,
        preview_id: id,
        preview_status: "undone",
        changed: restored.slice(0, PREVIEW_PATHS_MAX_COUNT).map(wirePath),
      });
    }
    const { text, shown } = await this.#act(id, action, call, paths);
    const metadata = previewMetadata(shown.record, shown.changes, PREVIEW_PATHS_MAX_COUNT);
    return ToolResult.ok(text, { action, ...metadata });
  }

  protected override failed(
    error: unknown,
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): ToolResult<PreviewToolMetadata> {
    if (!(error instanceof NacreError)) return super.failed(error, context, args);
    const { preview_id, action } = args;
    const conflicts = error instanceof PreviewConflict ? { conflicts: error.conflicts } : {};
    return ToolResult.fail<PreviewToolMetadata>(messageOf(error), {
      code: error.code,
      metadata: { preview_id, action, ...conflicts, ...refusalMetadata(error) },
    });
  }

  async #act(
    id: string,
    action: "show" | "diff" | "commit" | "discard",
    call: PreviewCall,
    paths: readonly string[] | undefined,
  ): Promise<{ readonly text: string; readonly shown: ShownPreview }> {
    switch (action) {
      case "show": {
        const shown = showPreview(id, call, paths);
        return { text: previewLines(shown.record, shown.changes, HOW_TO_COMMIT).join("\n"), shown };
      }
      case "diff": {
        const shown = await diffPreview(id, call, paths);
        return { text: sanitizerFor(this.#options)(shown.text), shown };
      }
      case "commit": {
        const shown = await commitAdmitted(id, call, paths);
        return { text: `Committed ${id}: ${countsOf(shown.changes)}. Action undo takes it back.`, shown };
      }
      case "discard": {
        const shown = discardPreview(id, call, paths);
        const rest = shown.record.status === "pending" ? ` ${shown.changes.length} changes are left.` : "";
        return { text: `Discarded${paths ? "" : ` ${id}`}.${rest} The workspace is untouched.`, shown };
      }
    }
  }
}

const HOW_TO_COMMIT = 'Action "commit" writes it, "discard" drops it.';
