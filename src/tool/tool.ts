// The only kind of tool. A tool declares its input (`input`) and does its work (`run`). Callers use `execute`: it
// validates the arguments, runs the tool and turns everything that the tool throws into a failed result.

import type { z } from "zod";
import { messageOf, NacreError } from "../support/errors.ts";
import type { ExecutionContext, ToolProgress } from "./context.ts";
import { ToolInput, type ToolParameter, type Validated } from "./input.ts";
import { abortMessage, failureOf, isToolResult, ToolResult } from "./result.ts";
import type { ParametersSchema } from "./schemas/json-schema.ts";

/** The purpose of a tool. A closed set: a host can offer or withhold tools by category. */
export const TOOL_CATEGORIES = ["file", "execution", "web", "task", "notebook", "mcp", "other"] as const;

export type ToolCategory = (typeof TOOL_CATEGORIES)[number];

/** Hints about a tool's effects, for a host that has not called it yet. They are not guarantees. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export abstract class BaseTool<
  Input extends z.ZodObject = z.ZodObject,
  M extends object = Record<string, unknown>,
> {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly category: ToolCategory;
  /** The single definition of the tool's parameters. Its checks run synchronously and must have no side effects. */
  abstract readonly input: Input;
  /** The name that hosts show to people. */
  readonly title?: string;
  readonly annotations?: ToolAnnotations;

  #compiled: ToolInput<Input> | undefined;

  /** Does the work. Only `execute` calls it, with arguments that match `input`. */
  protected abstract run(
    context: ExecutionContext,
    args: z.output<Input>,
  ): ToolResult<M> | Promise<ToolResult<M>>;

  /** The result for an error of `run`. A tool can override this method to add metadata. Must not throw. */
  protected failed(error: unknown, context: ExecutionContext, _args: z.output<Input>): ToolResult<M> {
    return failureOf(error, this.name, context.signal);
  }

  get parameters(): readonly ToolParameter[] {
    return this.#toolInput().parameters;
  }

  /** The parameters as a closed JSON Schema without references. A copy that the caller may change. */
  toJsonSchema(): ParametersSchema {
    return structuredClone(this.#toolInput().jsonSchema);
  }

  /** Never rejects: every error becomes a failed result. */
  async execute(context: ExecutionContext, args: unknown): Promise<ToolResult<M>> {
    let input: ToolInput<Input> | undefined;
    let validated: Validated<z.output<Input>> | undefined;
    try {
      input = this.#toolInput();
      validated = input.validate(args);
      if ("problem" in validated) return ToolResult.fail(validated.problem, { code: "invalid_input" });
      if (context.signal?.aborted) {
        return ToolResult.fail(abortMessage(this.name, context.signal), { code: "aborted" });
      }
      return await this.#run(context, validated.value);
    } catch (thrown) {
      if (context && validated && "value" in validated) return this.failed(thrown, context, validated.value);
      // Reading arguments can run the caller's code in getters and proxies. If this code throws, the input is invalid.
      if (input && !validated && !(thrown instanceof NacreError)) {
        return ToolResult.fail(`Arguments could not be read: ${messageOf(thrown)}`, {
          code: "invalid_input",
        });
      }
      return failureOf(thrown, this.name, context?.signal);
    }
  }

  async #run(context: ExecutionContext, args: z.output<Input>): Promise<ToolResult<M>> {
    const progress = guardProgress(context);
    const result: unknown = await this.run(progress.context, args);
    if (!isToolResult<M>(result)) {
      throw new NacreError("internal", `${this.name} returned something that is not a ToolResult`);
    }
    const failure = progress.failure();
    return failure === undefined ? result : result.withNotes(`The progress listener failed: ${failure}`);
  }

  // The input, built at its first use: the fields of a subclass do not exist yet when the constructor runs.
  #toolInput(): ToolInput<Input> {
    this.#compiled ??= new ToolInput(this.input);
    return this.#compiled;
  }
}

/** The context with a progress listener that cannot break the call. `failure` is the first error of the listener. */
function guardProgress(context: ExecutionContext) {
  const { onProgress } = context;
  let first: string | undefined;
  const failure = () => first;
  if (onProgress === undefined) return { context, failure };

  const remember = (thrown: unknown) => {
    first ??= messageOf(thrown);
  };
  const guarded = (progress: ToolProgress) => {
    try {
      // The type also accepts an async listener. Without this catch its rejection would end the process.
      Promise.resolve(onProgress(progress)).catch(remember);
    } catch (thrown) {
      remember(thrown);
    }
  };
  return { context: { ...context, onProgress: guarded }, failure };
}
