// The tools by name, in order of registration. Refuses a tool that a provider would not accept.

import { NacreError } from "../support/errors.ts";
import { excerpt, listed, quotedExcerpt } from "../support/excerpt.ts";
import { EXCERPT_MAX_CHARS } from "../support/limits.ts";
import { nearest } from "../support/nearest.ts";
import { type ProviderSchemas, SCHEMA_FORMATS, type SchemaFormat } from "./schemas/formats.ts";
import type { BaseTool, ToolCategory } from "./tool.ts";

// The names that OpenAI, Anthropic, Gemini and MCP all accept.
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

  /** Throws if the name is taken or the tool has no valid schema. */
  register(tool: BaseTool): void {
    this.registerMany([tool]);
  }

  /** Registers all tools, or none if one is refused. */
  registerMany(tools: Iterable<BaseTool>): void {
    const added = new Map<string, BaseTool>();
    for (const tool of tools) {
      if (this.exists(tool.name) || added.has(tool.name)) {
        throw new NacreError("invalid_input", `Tool already registered: ${tool.name}`);
      }
      requireUsableNames(tool);
      added.set(tool.name, tool);
    }
    for (const [name, tool] of added) this.#tools.set(name, tool);
  }

  /** Returns whether the tool was registered. */
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

  /** The error message for an unknown name. It suggests the nearest name and lists all names. */
  describeMissing(name: string): string {
    const shown = typeof name === "string" ? quotedExcerpt(name) : excerpt(name);
    const known =
      this.count === 0 ? "No tools are registered" : `Available tools: ${listed(this.listNames())}`;
    const isShort = typeof name === "string" && name.length <= EXCERPT_MAX_CHARS;
    const near = isShort ? nearest(name, this.listNames()) : undefined;
    return `Unknown tool: ${shown}.${near === undefined ? "" : ` Did you mean ${near}?`} ${known}`;
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

// Reading the parameters also builds the tool's schema. So an invalid schema throws here and not in a call.
function requireUsableNames(tool: BaseTool): void {
  if (!TOOL_NAME.test(tool.name)) {
    const message = `Not a tool name: ${quotedExcerpt(tool.name)}. It must match ${TOOL_NAME}`;
    throw new NacreError("invalid_input", message);
  }
  const bad = tool.parameters.find(({ name }) => !PARAMETER_NAME.test(name));
  if (bad === undefined) return;
  const message = `Not a parameter name of ${tool.name}: ${quotedExcerpt(bad.name)}. It must match ${PARAMETER_NAME}`;
  throw new NacreError("invalid_input", message);
}
