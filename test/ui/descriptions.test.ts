// The page and nacre ps show the description that an agent gives to a command.
import { expect, test } from "vitest";
import { createToolkit } from "../../src/toolkit.ts";
import { noBrowser, useBrowser } from "./browser.ts";
import { useUi } from "./ui-program.ts";

const create = useUi();
const open = useBrowser();

const HOSTILE = "<img src=x onerror=alert(1)> \u001b[31m\u202eevil\u0000";

async function started({ dir, home }: { dir: string; home: string }) {
  const kit = await createToolkit({ workingDir: dir, stateRoot: home, onTimeout: "background" });
  const background = await kit.call(
    "Bash",
    { command: "exec sleep 1000", description: "Wait for the deployment", run_in_background: true },
    { agentId: "builder", sessionId: "release" },
  );
  const detached = await kit.call(
    "Bash",
    { command: "sleep 1000; echo", description: HOSTILE, timeout: 1_000 },
    { agentId: "tester" },
  );
  return { kit, ids: [background, detached].map(({ metadata }) => String(metadata?.["bash_id"])) };
}

test("nacre ps --json has the description and the agent, even of a command moved to the background", async () => {
  const { dir, home, nacre } = create();
  const { kit, ids } = await started({ dir, home });
  const shells: { id: string; description?: string; agent?: string }[] = JSON.parse(
    nacre("ps", "--json"),
  ).shells;
  const labels = ids.map((id) => shells.find((shell) => shell.id === id));
  expect(labels).toMatchObject([
    { description: "Wait for the deployment", agent: "builder", session: "release" },
    { description: HOSTILE, agent: "tester" },
  ]);
  await kit.dispose();
});

test("a very long description is truncated", async () => {
  const { dir, home, nacre } = create();
  const kit = await createToolkit({ workingDir: dir, stateRoot: home });
  await kit.call("Bash", {
    command: "exec sleep 1000",
    description: "x".repeat(1_000_000),
    run_in_background: true,
  });
  expect(JSON.parse(nacre("ps", "--json")).shells[0].description.length).toBeLessThan(1_000);
  await kit.dispose();
});

test.skipIf(noBrowser !== undefined)("the page shows descriptions and agents as text", async () => {
  const { dir, home, ui } = create();
  const { kit } = await started({ dir, home });
  const { page, errors } = await open(await ui());
  const row = page.locator("button.row", { hasText: "Wait for the deployment" });
  await row.waitFor();
  expect(await row.locator(".title").textContent()).toBe("Wait for the deployment");
  expect(await row.locator(".command-line").textContent()).toBe("exec sleep 1000");
  expect(await row.locator(".facts").textContent()).toMatch(/^agent builder · session release/);
  await page.locator("button.row", { hasText: "evil" }).click();
  expect(await page.locator(".description").textContent()).toBe(
    "<img src=x onerror=alert(1)> ESC[31mU+202EevilNUL",
  );
  expect(await page.locator("main img").count()).toBe(0);
  expect(errors).toEqual([]);
  await kit.dispose();
});
