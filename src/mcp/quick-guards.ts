// Tells the SDK which kind of message an object is, without zod, for the messages of ordinary clients. The SDK checks
// this six times per call, and each check by zod takes longer than parsing the message. Replaces `safeParse` of four
// schemas. In unclear cases the replacement calls zod. Import this before the SDK handles messages.
import {
  JSONRPCErrorResponseSchema,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  JSONRPCResultResponseSchema,
} from "@modelcontextprotocol/core";

type Fields = Readonly<Record<string, unknown>>;
/** undefined: only zod can tell. */
type Answer = boolean | undefined;

interface Schema {
  safeParse(value: unknown): unknown;
}

const RELATED_TASK = "io.modelcontextprotocol/related-task";

answer(JSONRPCRequestSchema, (message) => {
  const { jsonrpc, id, method, params } = message;
  if (id === undefined || method === undefined) return false;
  return (
    (jsonrpc === "2.0" &&
      isId(id) &&
      typeof method === "string" &&
      hasOrdinaryMeta(params) &&
      hasOnly(message, ["jsonrpc", "id", "method", "params"])) ||
    undefined
  );
});

answer(JSONRPCNotificationSchema, (message) => {
  const { jsonrpc, method, params } = message;
  if (method === undefined) return false;
  return (
    (jsonrpc === "2.0" &&
      typeof method === "string" &&
      hasOrdinaryMeta(params) &&
      hasOnly(message, ["jsonrpc", "method", "params"])) ||
    undefined
  );
});

answer(JSONRPCResultResponseSchema, (message) => {
  const { jsonrpc, id, result } = message;
  if (result === undefined) return false;
  return (
    (jsonrpc === "2.0" &&
      isId(id) &&
      isFields(result) &&
      result["_meta"] === undefined &&
      hasOnly(message, ["jsonrpc", "id", "result"])) ||
    undefined
  );
});

answer(JSONRPCErrorResponseSchema, ({ error }) => (error === undefined ? false : undefined));

function answer(schema: Schema, obvious: (message: Fields) => Answer): void {
  const ask = schema.safeParse.bind(schema);
  schema.safeParse = (value) => {
    const found = isFields(value) ? obvious(value) : undefined;
    if (found === undefined) return ask(value);
    if (found) return { success: true, data: value };
    return {
      success: false,
      // The SDK does not use the reason.
      get error() {
        return (ask(value) as { readonly error: unknown }).error;
      },
    };
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): boolean {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function hasOrdinaryMeta(params: unknown): boolean {
  if (params === undefined) return true;
  if (!isFields(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  if (!isFields(meta) || meta[RELATED_TASK] !== undefined) return false;
  return meta["progressToken"] === undefined || isId(meta["progressToken"]);
}

function hasOnly(message: Fields, names: readonly string[]): boolean {
  return Object.keys(message).every((name) => names.includes(name));
}
