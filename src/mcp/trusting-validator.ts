// Says yes to everything: the tools look for themselves, and say in our words what is wrong.
import type { JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/server";

export class TrustingValidator implements jsonSchemaValidator {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  }
}
