import { expect, it } from "vitest";
import { type ApprovalRequest, createContext, isSameRequest } from "../../src/tool/context.ts";

it("createContext fills in the defaults", () => {
  expect(createContext({ workingDir: "/w" })).toEqual({ workingDir: "/w", dryRun: false, metadata: {} });
});

it("createContext keeps the given values", () => {
  const approve = async () => true;
  const given = { workingDir: "/w", dryRun: true, sessionId: "s", approve, metadata: { a: 1 } };
  expect(createContext(given)).toEqual(given);
});

it("a context cannot be changed", () => {
  const context = createContext({ workingDir: "/w" });
  expect(() => Object.assign(context, { dryRun: true })).toThrow(TypeError);
  expect(() => Object.assign(context.metadata, { a: 1 })).toThrow(TypeError);
});

const asked: ApprovalRequest = {
  command: "find . -delete",
  rule: "delete-workspace",
  reason: "It deletes the workspace.",
  cwd: "/w",
  session: "s",
  background: false,
  severity: "high",
  span: null,
  effects: [],
};

it.each<Partial<ApprovalRequest>>([
  { command: "find . -print" },
  { rule: "delete-outside" },
  { reason: "It deletes a link." },
  { cwd: "/w/other" },
  { session: "other" },
  { session: null },
  { background: true },
])("an answer does not count for a request with another value: %j", (changed) => {
  expect(isSameRequest(asked, { ...asked })).toBe(true);
  expect(isSameRequest(asked, { ...asked, ...changed })).toBe(false);
});
