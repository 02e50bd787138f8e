// A server for the official conformance suite. It offers the tools and resources that the suite needs, over the same
// transport code as `nacre mcp --http`. It prints its address and serves until it is killed. scripts/conformance.mjs
// starts it.
import {
  fromJsonSchema,
  inputRequired,
  inputResponse,
  type JsonSchemaType,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { openHttpEndpoint } from "../../src/mcp/http-endpoint.ts";
import { listenHttp } from "../../src/mcp/http-listener.ts";
import { TrustingValidator } from "../../src/mcp/trusting-validator.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const text = (words: string) => ({ type: "text" as const, text: words });
const image = { type: "image" as const, data: PIXEL, mimeType: "image/png" };
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

const validator = new TrustingValidator();
const schemaOf = (properties: Record<string, object>, rest: object = {}) =>
  fromJsonSchema<Record<string, unknown>>(
    { type: "object", properties, ...rest } as JsonSchemaType,
    validator,
  );
const NO_INPUT = schemaOf({});

function createFixture(): McpServer {
  const server = new McpServer(
    { name: "nacre-conformance", version: "1.0.0" },
    {
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true } },
      jsonSchemaValidator: validator,
    },
  );
  addContent(server);
  addProgress(server);
  addQuestions(server);
  addSchema(server);
  addResources(server);
  return server;
}

function addContent(server: McpServer): void {
  const embedded = {
    type: "resource" as const,
    resource: {
      uri: "test://embedded-resource",
      mimeType: "text/plain",
      text: "This is an embedded resource content.",
    },
  };
  const mixed = {
    type: "resource" as const,
    resource: {
      uri: "test://mixed-content-resource",
      mimeType: "application/json",
      text: JSON.stringify({ test: "data", value: 123 }),
    },
  };
  const contents = {
    test_simple_text: [text("This is a simple text response for testing.")],
    test_image_content: [image],
    test_audio_content: [{ type: "audio" as const, data: SILENCE, mimeType: "audio/wav" }],
    test_embedded_resource: [embedded],
    test_multiple_content_types: [text("Multiple content types test:"), image, mixed],
  };
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: name, inputSchema: NO_INPUT }, async () => ({ content }));
  }
  server.registerTool("test_error_handling", { description: "fails", inputSchema: NO_INPUT }, async () => ({
    isError: true,
    content: [text("This tool intentionally returns an error for testing")],
  }));
}

function addProgress(server: McpServer): void {
  server.registerTool(
    "test_tool_with_progress",
    { description: "reports progress", inputSchema: NO_INPUT },
    async (_, { mcpReq }: ServerContext) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress, total: 100 },
          });
        }
        await pause();
      }
      return { content: [text("done")] };
    },
  );
}

/** Asks as nacre does: in old and new versions of the protocol, the first result contains the question. */
function addQuestions(server: McpServer): void {
  const string = { type: "string" } as const;
  const questions = {
    test_elicitation: { username: string, email: string },
    test_elicitation_sep1034_defaults: {
      name: { ...string, default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { ...string, enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    },
    test_elicitation_sep1330_enums: {
      untitledSingle: { ...string, enum: ["option1", "option2", "option3"] },
      titledSingle: {
        ...string,
        oneOf: ["value1", "value2", "value3"].map((value) => ({ const: value, title: value })),
      },
      legacyEnum: { ...string, enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { ...string, enum: ["option1", "option2", "option3"] } },
      titledMulti: {
        type: "array",
        items: { anyOf: ["value1", "value2", "value3"].map((value) => ({ const: value, title: value })) },
      },
    },
  } as const;
  for (const [name, properties] of Object.entries(questions)) {
    server.registerTool(
      name,
      { description: "asks a person", inputSchema: schemaOf({ message: string }) },
      async (args, { mcpReq }) => {
        const answer = inputResponse(mcpReq.inputResponses, "answer");
        if (answer.kind === "elicit") {
          return { content: [text(`User response: ${JSON.stringify(answer)}`)] };
        }
        const message = String(args["message"] ?? "Please answer");
        const requestedSchema = { type: "object", properties, required: Object.keys(properties) } as never;
        return inputRequired({
          inputRequests: { answer: inputRequired.elicit({ message, requestedSchema }) },
        });
      },
    );
  }
  server.registerTool(
    "test_input_required_result_elicitation",
    { description: "asks for a name", inputSchema: NO_INPUT },
    async (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "user_name");
      if (answer.kind === "elicit" && answer.action === "accept") {
        return { content: [text(`Hello, ${String(answer.content?.["name"])}!`)] };
      }
      const requestedSchema = {
        type: "object" as const,
        properties: { name: string },
        required: ["name"],
      };
      return inputRequired({
        inputRequests: {
          user_name: inputRequired.elicit({ message: "What is your name?", requestedSchema }),
        },
      });
    },
  );
}

function addSchema(server: McpServer): void {
  const address = {
    $anchor: "addressDef",
    type: "object",
    properties: { street: { type: "string" }, city: { type: "string" } },
  };
  const inputSchema = schemaOf(
    {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $defs: { address },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
  );
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Tool with JSON Schema 2020-12 features", inputSchema },
    async () => ({ content: [text("ok")] }),
  );
}

function addResources(server: McpServer): void {
  const description = "a resource of the conformance suite";
  server.registerResource(
    "static-text",
    "test://static-text",
    { description, mimeType: "text/plain" },
    async ({ href }) => ({
      contents: [
        { uri: href, mimeType: "text/plain", text: "This is the content of the static text resource." },
      ],
    }),
  );
  server.registerResource(
    "static-binary",
    "test://static-binary",
    { description, mimeType: "image/png" },
    async ({ href }) => ({ contents: [{ uri: href, mimeType: "image/png", blob: PIXEL }] }),
  );
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description, mimeType: "application/json" },
    async ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

const log = () => {};
const { url } = await listenHttp({
  address: { host: "127.0.0.1", port: 0 },
  tokens: [],
  openEndpoint: () => openHttpEndpoint({ createServer: createFixture, log }),
  log,
});
console.log(url);
