// The base class of the file tools, and the metadata that all their results have.
import { normalize } from "node:path";
import type { z } from "zod";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "../execution/execution-options.ts";
import { type RefusalMetadata, refusalMetadata } from "../execution/refusal.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { shownPath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolCategory } from "../tool/tool.ts";
import type { AdmittedFile } from "./file-admission.ts";

/** The metadata of every file tool. */
export interface FileMetadata extends RefusalMetadata {
  /** The absolute path without links. */
  readonly file_path: string;
  readonly dry_run?: boolean;
}

export abstract class FileTool<Input extends z.ZodObject, M extends object> extends BaseTool<Input, M> {
  readonly category: ToolCategory = "file";
  protected readonly options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.options = resolveExecutionOptions(options);
  }

  protected override failed(error: unknown, context: ExecutionContext, args: z.output<Input>): ToolResult<M> {
    if (!(error instanceof NacreError)) return super.failed(error, context, args);
    const metadata = refusalMetadata(error) as Partial<M>;
    return ToolResult.fail<M>(messageOf(error), { code: error.code, metadata });
  }
}

/** A note if the path of a call contains a symbolic link. */
export function linkNotes({ path, real }: AdmittedFile): string[] {
  const isLinked = normalize(path).replace(/(.)\/$/, "$1") !== real;
  return isLinked ? [`The path leads to ${shownPath(real)} through a symbolic link.`] : [];
}
