// Tools that together use every kind of parameter, and a tool with a body that tests can replace.

import { z } from "zod";
import { createContext, type ExecutionContext } from "../../src/tool/context.ts";
import { ToolResult } from "../../src/tool/result.ts";
import { BaseTool, type ToolCategory } from "../../src/tool/tool.ts";

export const context = createContext({ workingDir: "/tmp" });

const everyKind = z.object({
  text: z.string().min(2).max(8).describe("Some text"),
  whole: z.number().int().min(1000).max(600_000, { error: "Whole exceeds maximum: 600000" }).optional(),
  positive: z.int().positive().optional().describe("Any positive integer"),
  ratio: z.number().min(0).lt(1).optional(),
  step: z.int().min(-1000).max(1000).multipleOf(5).optional(),
  flag: z.boolean().default(false).describe("A switch"),
  mode: z.enum(["default", "slow", "background"]).default("default").describe("How to run"),
  code: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
  tags: z.array(z.string().min(1)).min(1).max(3).optional(),
  maybe: z.string().nullable().optional().describe("May be null"),
  where: z.object({ line: z.int(), column: z.int().optional() }).optional().describe("A place"),
  either: z.union([z.string(), z.number()]).optional(),
  version: z.literal("v1").optional(),
  level: z.literal([1, 2, 3]).optional(),
});

/** Takes one parameter of each kind and returns its arguments, defaults included. */
export class EveryKindTool extends BaseTool<typeof everyKind, { args: z.output<typeof everyKind> }> {
  readonly name = "EveryKind";
  override readonly title = "Every kind of parameter";
  readonly description = "Takes one of each kind.";
  readonly category: ToolCategory = "other";
  override readonly annotations = { readOnlyHint: true };
  readonly input = everyKind;

  protected run(_: ExecutionContext, args: z.output<typeof everyKind>) {
    return ToolResult.ok("done", { args });
  }
}

const command = z.object({
  command: z.string().min(1).describe("The command"),
  timeout: z
    .number()
    .int()
    .min(1000)
    .max(600_000, { error: "Timeout exceeds maximum: 600000ms" })
    .default(120_000)
    .describe("Milliseconds"),
  run_in_background: z.boolean().default(false),
});

/** Has the parameters of a shell tool, and runs the given body. */
export class CommandTool extends BaseTool<typeof command> {
  readonly name: string = "Command";
  readonly description = "Runs a command.";
  readonly category: ToolCategory = "execution";
  readonly input = command;
  readonly #body: (context: ExecutionContext) => unknown;

  constructor(body: (context: ExecutionContext) => unknown = () => ToolResult.ok("ran")) {
    super();
    this.#body = body;
  }

  protected async run(context: ExecutionContext) {
    return (await this.#body(context)) as ToolResult;
  }
}

/** Has no parameters. */
export class BareTool extends BaseTool {
  readonly name: string = "Bare";
  readonly description = "Takes nothing.";
  readonly category: ToolCategory = "task";
  readonly input: z.ZodObject = z.object({});

  protected run() {
    return ToolResult.ok("bare");
  }
}

/** Returns a tool with the given input schema. */
export function toolTaking(input: z.ZodObject, name = "Taking"): BaseTool {
  return new (class extends BareTool {
    override readonly name = name;
    override readonly input = input;
  })();
}
