// Converts errors to and from JSON-RPC. The code and the fields of a NacreError are preserved.
import { ERROR_CODES, type ErrorCode, messageOf, NacreError } from "../../support/errors.ts";

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** JSON-RPC reserves -32000 to -32099 for errors that the implementation defines. */
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
    new NacreError(known, withoutControls(String(message ?? "The remote end failed without a message."))),
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        typeof value === "string" ? withoutControls(value) : value,
      ]),
    ),
  );
}

/** Removes control characters: text from the other end must not control the terminal that shows it. */
function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\t\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, " ");
}
