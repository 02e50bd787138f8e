// Every run ends by itself: without a timeout of its own it gets the default one.
import { expect, test } from "vitest";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit({ defaultTimeoutMs: 1_000 });

test.each([
  ["kit.run", () => kit().run("sleep 300")],
  ["session.run", () => kit().session("default-timeout").run("sleep 300")],
])("%s without a timeout ends at the default one", async (_, run) => {
  expect(await run()).toMatchObject({ outcome: { kind: "timedOut" } });
});
