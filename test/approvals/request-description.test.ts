// The description that the agent gives a command, in the approval request.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToolkit } from "../../src/toolkit.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();

test("a request contains the description, and an answer counts whatever the description says", async () => {
  const base = directory();
  const workingDir = join(base, "work");
  mkdirSync(workingDir);
  await using kit = await createToolkit({ workingDir, stateRoot: join(base, "state") });
  const command = "find . -delete";
  const first = await kit.call("Bash", { command, description: "Empty the directory" });
  const id = first.metadata.approval_id ?? "";
  expect(kit.approvals.get(id)).toMatchObject({ command, description: "Empty the directory" });
  kit.approvals.approve(id);
  expect(await kit.call("Bash", { command })).toMatchObject({ success: true });
});
