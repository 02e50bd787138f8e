// A person who decides about a command sees what its preview changed: on the page and in the form of an MCP client.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { dataOf, useMcp } from "../mcp/mcp-clients.ts";
import { noBrowser, shown, useBrowser } from "./browser.ts";
import { useUi } from "./ui-program.ts";

const create = useUi();
const open = useBrowser();
const mcp = useMcp();

const COMMAND = "find . -delete";

/** Creates more files than a summary lists. */
function populate(dir: string): void {
  mkdirSync(dir, { recursive: true });
  for (let number = 10; number < 32; number++) writeFileSync(join(dir, `f${number}`), "");
  writeFileSync(join(dir, "<b>\u202e"), "");
}

describeSandboxed("an approval with a preview", () => {
  describe.skipIf(noBrowser !== undefined)("on the page", () => {
    test("lists the same changes as the API, and shows them as text", async () => {
      const { ui, dir, nacre, request } = create();
      populate(dir);
      nacre("run", "--preview", COMMAND);
      request(COMMAND);
      const server = await ui();
      const { page, errors } = await open(server);
      await page.locator(".group.you button.row").click();
      await shown(page, "[data-preview]", "What its preview changed");
      const [{ preview }] = (await (await server.api("/api/approvals")).json()) as [
        { preview: { id: string; lines: string[] } },
      ];
      expect(preview.lines[0]).toBe(`Preview ${preview.id}: 23 deleted.`);
      expect(preview.lines.at(-1)).toMatch(/^… and \d+ more$/);
      const lines = page.locator("[data-preview] p, [data-preview] li");
      expect(await lines.allTextContents()).toEqual(preview.lines);
      expect(preview.lines.join("\n")).toContain("- f10");
      expect(await page.locator("[data-preview]").textContent()).not.toContain("\u202e");
      expect(errors).toEqual([]);
    });
  });

  test("is shown in the form of an MCP client", async () => {
    const questions: string[] = [];
    const prepare = (client: Client) =>
      client.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push(params.message);
        return { action: "decline" };
      });
    const { call, dir } = await mcp.inProcess({
      capabilities: { elicitation: { form: {} } },
      prepare,
      with: ["preview"],
    });
    populate(dir);
    const previewed = dataOf(await call("Bash", { command: COMMAND, preview: true }));
    await call("Bash", { command: COMMAND });
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain(`Preview ${previewed["preview_id"]}: 23 deleted.`);
    expect(questions[0]).toContain("- f10");
  });
});
