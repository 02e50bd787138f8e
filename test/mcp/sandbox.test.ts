// The sandbox and limit flags of `nacre mcp`: they confine the commands of the client's model in both dialects.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { DIALECTS } from "./dialects.ts";
import { useMcp } from "./mcp-clients.ts";

const mcp = useMcp();
const outside = `/var/tmp/nacre-test-outside-${process.pid}`;
const COMMAND = `cat secret; echo mine >here; echo x >${outside}; ulimit -f`;

describeSandboxed("nacre mcp --sandbox", () => {
  test.each(DIALECTS)(
    "confines commands in dialect $dialect, and reports the sandbox",
    async ({ dialect, run }) => {
      const words = ["--dialect", dialect, "--policy", "off", "--sandbox", "workspace-write"];
      const limits = ["--hide", "secret", "--max-file-size", "3M"];
      const { client, dir } = await mcp.overStdio([...words, ...limits]);
      writeFileSync(join(dir, "secret"), "PRIVATE\n");
      const text = JSON.stringify(await run(client, COMMAND));
      expect(text).toContain("workspace-write, network none");
      expect(text).toContain("secret: Permission denied");
      expect(text).toContain(`${outside}: Read-only file system`);
      expect(text).toContain("3072");
      expect(text).not.toContain("PRIVATE");
      expect(existsSync(join(dir, "here"))).toBe(true);
    },
  );
});

test("without the sandbox, the same command succeeds", async () => {
  const [shells] = DIALECTS;
  const { client, dir } = await mcp.overStdio(["--policy", "off"]);
  writeFileSync(join(dir, "secret"), "PRIVATE\n");
  const text = JSON.stringify(await shells?.run(client, COMMAND));
  const isWritten = existsSync(outside);
  rmSync(outside, { force: true });
  expect(isWritten).toBe(true);
  expect(text).toContain("PRIVATE");
});
