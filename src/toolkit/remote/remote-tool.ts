// A tool that runs at the remote end. It has the name, the description and the parameters of the local tool, because
// both ends run the same build.
import type { z } from "zod";
import type { ErrorCode } from "../../support/errors.ts";
import type { ExecutionContext } from "../../tool/context.ts";
import { ToolResult } from "../../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../../tool/tool.ts";

/** A result as plain data. */
export interface PlainResult {
  readonly success: boolean;
  readonly output: string;
  readonly error?: string;
  readonly code?: ErrorCode;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
}

export type Forward = (tool: string, args: unknown, context: ExecutionContext) => Promise<PlainResult>;

export class RemoteTool extends BaseTool {
  override readonly name: string;
  override readonly description: string;
  override readonly category: ToolCategory;
  override readonly input: z.ZodObject;
  declare readonly title?: string;
  declare readonly annotations?: ToolAnnotations;
  readonly #forward: Forward;

  constructor(local: BaseTool, forward: Forward) {
    super();
    this.name = local.name;
    this.description = local.description;
    this.category = local.category;
    this.input = local.input;
    if (local.title !== undefined) this.title = local.title;
    if (local.annotations !== undefined) this.annotations = local.annotations;
    this.#forward = forward;
  }

  protected override async run(context: ExecutionContext, args: unknown): Promise<ToolResult> {
    const {
      success,
      output,
      error = "",
      code = "internal",
      metadata,
      notes,
    } = await this.#forward(this.name, args, context);
    if (success) return ToolResult.ok(output, { ...metadata }, { notes });
    return ToolResult.fail(error, { code, output, metadata: { ...metadata }, notes });
  }
}
