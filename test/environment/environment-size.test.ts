import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { environmentTooLarge } from "../../src/environment/environment-size.ts";
import { ENVIRONMENT_STRING_MAX_BYTES } from "../../src/support/limits.ts";

const start = (env: Record<string, string>): void => {
  execFileSync("/bin/true", [], { env });
};

test("an environment within the limits is accepted by nacre and the kernel", () => {
  const largest = "x".repeat(ENVIRONMENT_STRING_MAX_BYTES - "BIG=".length - 1);
  const many = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`V${i}`, "y".repeat(130_000)]));
  for (const env of [{}, { PATH: "/usr/bin" }, { BIG: largest }, many]) {
    expect(environmentTooLarge(env)).toBeUndefined();
    start(env);
  }
});

test("a variable one byte over the kernel's limit is refused, and the message names it and its size", () => {
  const env = { PATH: "/usr/bin", BIG: "x".repeat(ENVIRONMENT_STRING_MAX_BYTES - "BIG=".length) };
  expect(() => start(env)).toThrow("E2BIG");
  expect(environmentTooLarge(env)).toMatchObject({
    code: "limit_reached",
    message:
      "Environment too large: BIG has 131073 bytes, the system accepts at most 131072 in one variable. " +
      "Leave BIG out of the environment, or put its value into a file and pass the path.",
  });
});

test("an environment that is too large is refused with its largest variable and the sizes in bytes", () => {
  const env = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`V${i}`, "é".repeat(30_000 + i)]));
  expect(environmentTooLarge(env)?.message).toMatch(/in 40 variables.*The biggest is V39 with 60083 bytes\./);
});
