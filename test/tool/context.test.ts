import { expect, it } from "vitest";
import { createContext } from "../../src/tool/context.ts";

it("fills in what has a default", () => {
  expect(createContext({ workingDir: "/w" })).toEqual({ workingDir: "/w", dryRun: false, metadata: {} });
});

it("keeps the given values", () => {
  const approve = async () => true;
  const given = { workingDir: "/w", dryRun: true, sessionId: "s", approve, metadata: { a: 1 } };
  expect(createContext(given)).toEqual(given);
});

it("cannot be changed", () => {
  const context = createContext({ workingDir: "/w" });
  expect(() => Object.assign(context, { dryRun: true })).toThrow(TypeError);
  expect(() => Object.assign(context.metadata, { a: 1 })).toThrow(TypeError);
});
