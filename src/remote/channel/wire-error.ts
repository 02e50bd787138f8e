// Errors on the wire: the code and the fields of a NacreError survive.
import { ERROR_CODES, type ErrorCode, messageOf, NacreError } from "../../support/errors.ts";

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The range of JSON-RPC for errors of an application. */
const APPLICATION_ERROR = -32_000;

export function toWireError(thrown: unknown): WireError {
  const data = thrown instanceof NacreError ? thrown.toJSON() : { code: "internal" };
  return { code: APPLICATION_ERROR, message: messageOf(thrown), data };
}

export function fromWireError(error: unknown): NacreError {
  const { message, data } = Object(error) as Partial<WireError>;
  const { code, name: _, message: __, ...fields } = Object(data) as Record<string, unknown>;
  const known = ERROR_CODES.find((one): one is ErrorCode => one === code) ?? "internal";
  return Object.assign(
    new NacreError(known, String(message ?? "The remote end failed without a message.")),
    fields,
  );
}
