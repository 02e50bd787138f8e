// A run without its own timeout ends at the default timeout.
import { expect, test } from "vitest";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit({ defaultTimeoutMs: 1_000 });

test.each([
  ["kit.run", () => kit().run("sleep 300")],
  ["session.run", () => kit().session("default-timeout").run("sleep 300")],
])("%s without a timeout ends at the default timeout", async (_, run) => {
  expect(await run()).toMatchObject({ outcome: { kind: "timedOut" } });
});
