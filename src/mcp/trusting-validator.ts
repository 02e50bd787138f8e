// Accepts everything: the tools validate their arguments and report problems with their own messages.
import type { JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/server";

export class TrustingValidator implements jsonSchemaValidator {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  }
}
