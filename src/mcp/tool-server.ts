// The SDK's server with a faster check of tools/call. The SDK validates each call three times: the request twice, and
// the result, which nacre has just created. For a short command, this takes longer than the rest of the server's work.
// Here, CALL_PARAMS validates the request once, and the tool validates its arguments. The SDK still handles a call
// that asks a person a question.
import {
  isInputRequiredResult,
  type JSONRPCRequest,
  type Result,
  Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

export class ToolServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const checked = super._wrapHandler(method, handler);
    if (method !== "tools/call") return checked;
    return async (request, ctx) => {
      // This is the second round of a question. Let the SDK check the state that the client returns.
      if (ctx.mcpReq.requestState() !== undefined) return await checked(request, ctx);
      const result = await handler(request, ctx);
      if (!isInputRequiredResult(result)) return result;
      let first: Result | undefined = result;
      // The SDK sends the question. In the older era it also waits for the answer and calls the handler again.
      const asking = super._wrapHandler(method, async (again, ctxOfRound) => {
        const question = first;
        first = undefined;
        return question ?? (await handler(again, ctxOfRound));
      });
      return await asking(request, ctx);
    };
  }
}

export interface CallParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** Checks the parameters of tools/call, as a Standard Schema. */
export const CALL_PARAMS: StandardSchemaV1<unknown, CallParams> = {
  "~standard": {
    version: 1,
    vendor: "nacre",
    validate: (value) => {
      const { name, arguments: args }: Partial<Record<string, unknown>> = Object(value);
      if (typeof name !== "string") return { issues: [{ message: "must be a string", path: ["name"] }] };
      if (args === undefined) return { value: { name } };
      if (isRecord(args)) return { value: { name, arguments: args } };
      return { issues: [{ message: "must be an object", path: ["arguments"] }] };
    },
  },
};

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
