import { expect, test } from "vitest";
import { dataOf, useMcp } from "../mcp/mcp-clients.ts";

const mcp = useMcp();

test("nacre mcp --approval-deadline ends a request without an answer", async () => {
  const { call } = await mcp.overStdio(["--approval-deadline", "300ms"], {
    era: "legacy",
    capabilities: { elicitation: { form: {} } },
    prepare: (client) => client.setRequestHandler("elicitation/create", () => new Promise(() => {})),
  });
  expect(dataOf(await call("Bash", { command: "find . -delete" }))).toMatchObject({
    error_code: "approval_expired",
    approval_id: expect.stringMatching(/^ask_/),
  });
});
