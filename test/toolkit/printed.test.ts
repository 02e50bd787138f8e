// A host may log nacre's objects, so JSON.stringify and util.inspect must not print the secrets in them.
import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { useToolkit } from "../fixtures/toolkit.ts";

vi.stubEnv("NACRE_TEST_API_KEY", "dropped-value-4711");
vi.stubEnv("NACRE_TEST_PLAIN", "inherited-value-4711");
const kit = useToolkit({ environment: { set: { GIVEN: "given-value-4711" } } });

test("no object of a toolkit prints the value of a variable, and the environment prints no dropped value", async () => {
  const { manager, registry, executor, shells } = kit();
  const session = kit().session("s");
  await session.run("true", { env: { MORE: "more-value-4711" } });
  const shell = await session.start("true", { env: { MORE: "more-value-4711" } });
  await shell.wait(20_000);
  const objects = {
    kit: kit(),
    ...{ manager, registry, executor, shells, session, shell },
    environment: manager.environment,
    sessions: manager.sessions,
    ownSession: manager.findSession("s"),
    tool: registry.get("Bash"),
    engine: manager.engine,
    confiner: manager.confiner,
    root: manager.root,
    finished: manager.finished,
  };
  const leaks = Object.entries(objects).flatMap(([name, value]) => {
    const printed = {
      json: JSON.stringify(value) ?? "",
      inspect: inspect(value, { depth: 20 }),
      hidden: inspect(value, { depth: 20, showHidden: true }),
    };
    return Object.entries(printed).flatMap(([how, text]) => {
      const found = text.match(name === "environment" ? /dropped-value-4711/g : /\w+-value-4711/g) ?? [];
      return found.length === 0 ? [] : [`${name} ${how}: ${[...new Set(found)].join(" ")}`];
    });
  });
  expect(leaks).toEqual([]);
});
