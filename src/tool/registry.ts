// The tools there are, by name, in the order they came. Refuses what no provider would accept, at the door.

import { NacreError } from "../support/errors.ts";
import type { ToolCategory } from "./category.ts";
import { excerpt, listed, quotedExcerpt } from "./excerpt.ts";
import { type ProviderSchemas, SCHEMA_FORMATS, type SchemaFormat } from "./schemas/formats.ts";
import type { BaseTool } from "./tool.ts";

// What OpenAI, Anthropic, Gemini and MCP all accept.
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

export class ToolRegistry {
  static #shared: ToolRegistry | undefined;
  readonly #tools = new Map<string, BaseTool>();

  /** The process-wide registry. */
  static shared(): ToolRegistry {
    ToolRegistry.#shared ??= new ToolRegistry();
    return ToolRegistry.#shared;
  }

  get count(): number {
    return this.#tools.size;
  }

  /** A name that is taken, or a tool that could not be shown to a model, is an error. */
  register(tool: BaseTool): void {
    this.registerMany([tool]);
  }

  /** All of them or, if one is refused, none. */
  registerMany(tools: Iterable<BaseTool>): void {
    const newcomers = new Map<string, BaseTool>();
    for (const tool of tools) {
      if (this.exists(tool.name) || newcomers.has(tool.name)) {
        throw new NacreError("invalid_input", `Tool already registered: ${tool.name}`);
      }
      requireUsableNames(tool);
      newcomers.set(tool.name, tool);
    }
    for (const [name, tool] of newcomers) this.#tools.set(name, tool);
  }

  /** Whether there was such a tool. */
  deregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  get(name: string): BaseTool | undefined {
    return this.#tools.get(name);
  }

  getOrThrow(name: string): BaseTool {
    const tool = this.get(name);
    if (tool === undefined) throw new NacreError("unknown_tool", this.describeMissing(name));
    return tool;
  }

  /** The sentence for a name that is not there: it says which ones are. */
  describeMissing(name: string): string {
    const said = typeof name === "string" ? quotedExcerpt(name) : excerpt(name);
    const there =
      this.count === 0 ? "No tools are registered" : `Available tools: ${listed(this.listNames())}`;
    return `Unknown tool: ${said}. ${there}`;
  }

  exists(name: string): boolean {
    return this.#tools.has(name);
  }

  listNames(): string[] {
    return [...this.#tools.keys()];
  }

  listAll(): BaseTool[] {
    return [...this.#tools.values()];
  }

  listByCategory(category: ToolCategory): BaseTool[] {
    return this.listAll().filter((tool) => tool.category === category);
  }

  clear(): void {
    this.#tools.clear();
  }

  /** Every tool in one provider's format, in order of registration. */
  getAllSchemas<F extends SchemaFormat>(format: F): ProviderSchemas[F][] {
    if (!Object.hasOwn(SCHEMA_FORMATS, format)) {
      const formats = Object.keys(SCHEMA_FORMATS).join(", ");
      throw new NacreError("invalid_input", `Unknown schema format: ${excerpt(format)}. Formats: ${formats}`);
    }
    return this.listAll().map(SCHEMA_FORMATS[format]);
  }
}

// Asking for the parameters also works out the tool's schema, so one that has none fails here, not in a call.
function requireUsableNames(tool: BaseTool): void {
  if (!TOOL_NAME.test(tool.name)) {
    throw new NacreError(
      "invalid_input",
      `Not a tool name: ${quotedExcerpt(tool.name)}. It must match ${TOOL_NAME}`,
    );
  }
  const bad = tool.parameters.find(({ name }) => !PARAMETER_NAME.test(name));
  if (bad === undefined) return;
  const said = `Not a parameter name of ${tool.name}: ${quotedExcerpt(bad.name)}. It must match ${PARAMETER_NAME}`;
  throw new NacreError("invalid_input", said);
}
