import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { findShell, readerOf, scopeOf } from "../../src/execution/scope.ts";
import { NacreError } from "../../src/support/errors.ts";
import { createContext } from "../../src/tool/context.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager } = useShells();
const context = (of: { scope?: string; agentId?: string } = {}) => createContext({ workingDir: "/", ...of });

test("a call without a scope gets the default scope, and a call without an agent gets an empty reader name", () => {
  expect([scopeOf(context()), scopeOf(context({ scope: "a" }))]).toEqual(["default", "a"]);
  expect([readerOf(context()), readerOf(context({ agentId: "b" }))]).toEqual(["", "b"]);
});

test("a shell is found only in its own scope, and the error lists only shells of the caller's scope", async () => {
  const shells = manager();
  const create = (command: string, scope: string) =>
    shells.createShell({ command, workingDir: tmpdir(), scope, background: false });
  const mine = await create("sleep 300", "mine");
  const theirs = await create("sleep 301", "theirs");
  expect(findShell(shells, mine.id, context({ scope: "mine" }))).toBe(mine);
  const refused = () => findShell(shells, theirs.id, context({ scope: "mine" }));
  expect(refused).toThrow(NacreError);
  expect(refused).toThrow(`There are:\n${mine.id} (running): sleep 300`);
  expect(refused).not.toThrow("sleep 301");
});
