// The quick guards that replace the SDK's validation accept the same messages as the SDK's schemas.
import {
  JSONRPCErrorResponseSchema,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  JSONRPCResultResponseSchema,
} from "@modelcontextprotocol/core";
import { isJSONRPCRequest, isJSONRPCResultResponse } from "@modelcontextprotocol/server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import "../../src/mcp/quick-guards.ts";

const SCHEMAS = {
  request: JSONRPCRequestSchema,
  notification: JSONRPCNotificationSchema,
  result: JSONRPCResultResponseSchema,
  error: JSONRPCErrorResponseSchema,
};

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "Bash", arguments: {} } };
const meta = { progressToken: 7, "example.org/more": { a: 1 } };

describe.each(Object.entries(SCHEMAS))("the schema of a %s", (kind, schema) => {
  test.each<[string, unknown]>([
    ["a call", call],
    ["a call with metadata", { ...call, params: { ...call.params, _meta: meta } }],
    ["a notification", { jsonrpc: "2.0", method: "notifications/initialized" }],
    ["a result", { jsonrpc: "2.0", id: "a", result: { content: [] } }],
    ["an error", { jsonrpc: "2.0", id: 3, error: { code: -1, message: "no" } }],
    ["text", "call"],
    ["a list", [call]],
    ["null", null],
  ])("gives the same answer for %s as the full validation", (_what, message) => {
    expect(schema.safeParse(message).success).toBe(z.safeParse(schema, message).success);
  });

  test("gives the same answer for any message as the full validation", () => {
    fc.assert(
      fc.property(messages, (message) => {
        expect(schema.safeParse(message).success).toBe(z.safeParse(schema, message).success);
      }),
      { numRuns: 3_000 },
    );
  });

  test("returns the error of the full validation", () => {
    const message = kind === "result" ? call : { jsonrpc: "2.0", id: 1, result: {} };
    expect(schema.safeParse(message).error).toEqual(z.safeParse(schema, message).error);
  });
});

test("the SDK calls the quick guards", () => {
  const original = JSONRPCRequestSchema.safeParse;
  let callCount = 0;
  JSONRPCRequestSchema.safeParse = (value) => {
    callCount += 1;
    return original(value);
  };
  expect(isJSONRPCRequest(call)).toBe(true);
  JSONRPCRequestSchema.safeParse = original;
  expect(callCount).toBe(1);
  expect(isJSONRPCResultResponse({ jsonrpc: "2.0", id: 1, result: {} })).toBe(true);
});

const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, true, 1, 1.5, -0, 2 ** 53, Number.NaN, "", "2.0", "a", [], {}),
  fc.object({ maxDepth: 1 }),
);
const ids = fc.oneof(fc.string(), fc.integer(), odd);
const metas = fc.oneof(
  fc.record(
    {
      progressToken: ids,
      "io.modelcontextprotocol/related-task": fc.oneof(fc.record({ taskId: fc.string() }), odd),
      "io.modelcontextprotocol/serverInfo": odd,
      other: odd,
    },
    { requiredKeys: [] },
  ),
  odd,
);
const bodies = fc.oneof(fc.record({ _meta: metas, name: odd }, { requiredKeys: [] }), odd);
const messages = fc.oneof(
  fc.record(
    {
      jsonrpc: fc.oneof(fc.constant("2.0"), odd),
      id: ids,
      method: fc.oneof(fc.string(), odd),
      params: bodies,
      result: bodies,
      error: fc.oneof(fc.record({ code: ids, message: odd, data: odd }, { requiredKeys: [] }), odd),
      extra: odd,
    },
    { requiredKeys: [] },
  ),
  // Mostly valid: one kind of message with one odd member.
  fc
    .tuple(fc.constantFrom("method", "result"), ids, bodies, odd, fc.boolean())
    .map(([kind, id, body, value, isExtra]) => ({
      jsonrpc: "2.0",
      ...(id === undefined ? {} : { id }),
      ...(kind === "method" ? { method: "tools/call", params: body } : { result: body }),
      ...(isExtra ? { extra: value } : {}),
    })),
  odd,
);
