// The one kind of tool there is. A tool says what it takes (`input`) and does it (`run`); `execute` is the
// way in: it validates, runs, and is the only place that turns what was thrown into a failed result.

import type { z } from "zod";
import { NacreError } from "../support/errors.ts";
import type { ToolCategory } from "./category.ts";
import type { ExecutionContext } from "./context.ts";
import { guardProgress } from "./guarded-progress.ts";
import type { ToolParameter } from "./parameters.ts";
import { ToolResult } from "./result.ts";
import type { JsonSchema } from "./schemas/json-schema.ts";
import { abortMessage, failureOf, wordsOf } from "./thrown.ts";
import { ToolInput } from "./tool-input.ts";

/** What a host may assume of a tool before it calls it; hints, not guarantees. */
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
  /** The one source of truth for what the tool takes. Checks run synchronously and must not have effects. */
  abstract readonly input: Input;
  /** A name for people. */
  readonly title?: string;
  readonly annotations?: ToolAnnotations;

  #compiled: ToolInput<Input> | undefined;

  /** Does the work. Called by `execute` alone, with arguments that have passed `input`. */
  protected abstract run(
    context: ExecutionContext,
    args: z.output<Input>,
  ): ToolResult<M> | Promise<ToolResult<M>>;

  get parameters(): readonly ToolParameter[] {
    return this.#own().parameters;
  }

  /** What the tool takes, as a closed JSON Schema without references; a copy, free to change. */
  toJsonSchema(): JsonSchema {
    return structuredClone(this.#own().jsonSchema);
  }

  /** Never rejects: whatever goes wrong is a failed result. */
  async execute(context: ExecutionContext, args: unknown): Promise<ToolResult<M>> {
    let validating = false;
    try {
      const input = this.#own();
      validating = true;
      const validated = input.validate(args);
      validating = false;
      if ("problem" in validated) return ToolResult.fail(validated.problem, { code: "invalid_input" });
      if (context.signal?.aborted) {
        return ToolResult.fail(abortMessage(this.name, context.signal), { code: "aborted" });
      }
      return await this.#run(context, validated.value);
    } catch (thrown) {
      // Reading arguments may run code of theirs: getters, proxies. What that throws is bad input.
      if (validating && !(thrown instanceof NacreError)) {
        return ToolResult.fail(`Arguments could not be read: ${wordsOf(thrown)}`, { code: "invalid_input" });
      }
      return failureOf(thrown, this.name, context?.signal);
    }
  }

  async #run(context: ExecutionContext, args: z.output<Input>): Promise<ToolResult<M>> {
    const progress = guardProgress(context);
    const result: unknown = await this.run(progress.context, args);
    if (!(result instanceof ToolResult)) {
      throw new NacreError("internal", `${this.name} returned something that is not a ToolResult`);
    }
    const failure = progress.failure();
    return failure === undefined ? result : result.withNotes(`The progress listener failed: ${failure}`);
  }

  // Not in the constructor: a subclass's fields do not exist yet while ours runs.
  #own(): ToolInput<Input> {
    this.#compiled ??= new ToolInput(this.input);
    return this.#compiled;
  }
}
