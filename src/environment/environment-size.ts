// Checks the size of an environment before a process is started, because the kernel's own error (E2BIG, "Argument list
// too long") names neither the variable nor the limit.
import { NacreError } from "../support/errors.ts";
import { ENVIRONMENT_STRING_MAX_BYTES, ENVIRONMENT_TOTAL_MAX_BYTES } from "../support/limits.ts";

/** The error for an environment that is too large; undefined if it fits. */
export function environmentTooLarge(env: Readonly<Record<string, string>>): NacreError | undefined {
  let totalBytes = 0;
  let biggest = { name: "", bytes: 0 };
  for (const [name, value] of Object.entries(env)) {
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + EQUALS_AND_NUL_BYTES;
    totalBytes += bytes + POINTER_BYTES;
    if (bytes > biggest.bytes) biggest = { name, bytes };
  }
  const advice = `Leave ${biggest.name} out of the environment, or put its value into a file and pass the path.`;
  if (biggest.bytes > ENVIRONMENT_STRING_MAX_BYTES) {
    return new NacreError(
      "limit_reached",
      `Environment too large: ${biggest.name} has ${biggest.bytes} bytes, ` +
        `the system accepts at most ${ENVIRONMENT_STRING_MAX_BYTES} in one variable. ${advice}`,
    );
  }
  if (totalBytes <= ENVIRONMENT_TOTAL_MAX_BYTES) return undefined;
  return new NacreError(
    "limit_reached",
    `Environment too large: ${totalBytes} bytes in ${Object.keys(env).length} variables, ` +
      `the system accepts at most ${ENVIRONMENT_TOTAL_MAX_BYTES}. ` +
      `The biggest is ${biggest.name} with ${biggest.bytes} bytes. ${advice}`,
  );
}

const EQUALS_AND_NUL_BYTES = 2;
const POINTER_BYTES = 8;
