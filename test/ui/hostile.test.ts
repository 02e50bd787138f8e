// Attacks on the page and its server: floods of output, endless lines, paths to other files, too many streams.

import { mkdirSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { UI_STREAMS_MAX_COUNT } from "../../src/support/limits.ts";
import { eventually } from "../fixtures/eventually.ts";
import { noBrowser, row, shown, useBrowser } from "./browser.ts";
import { type UiProgram, useUi } from "./ui-program.ts";

const create = useUi();
const open = useBrowser();

/** Sends a request with the given path. fetch would normalize the path. */
function statusOf({ port, token }: UiProgram, path: string, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    httpRequest({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe.skipIf(noBrowser !== undefined)("the page survives", () => {
  test("an endless line: it splits the line into parts and removes the oldest", async () => {
    const { ui, start } = create();
    start("head -c 40000000 /dev/zero | tr '\\0' x; sleep 1000", "--name", "endless");
    const { page, errors } = await open(await ui());
    await row(page, "endless").click();
    await shown(page, ".log .ln", "xxx");
    await eventually(async () => expect(await page.locator(".log .gap").count()).toBeGreaterThan(0));
    const longest = await page.evaluate(
      "Math.max(...[...document.querySelectorAll('.log .ln')].map((line) => line.textContent.length))",
    );
    expect(longest).toBeLessThanOrEqual(16_384);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    expect(errors).toEqual([]);
  });

  test("a flood of control characters, without creating a flood of elements", async () => {
    const { ui, start } = create();
    start("head -c 100000 /dev/zero; echo; echo done; sleep 1000", "--name", "zeros");
    const { page, errors } = await open(await ui());
    await row(page, "zeros").click();
    await shown(page, ".log .ln", "done");
    expect(await page.locator(".log .ln").first().textContent()).toMatch(/^(NUL)+$/);
    expect(await page.locator(".log *").count()).toBeLessThan(5_000);
    expect(errors).toEqual([]);
  });

  test("names, commands and directories that contain markup, code or control sequences", async () => {
    const { ui, dir, home } = create();
    const evil = '<img src=x onerror="document.title=1">\u001b[31m\u202e\u0007';
    const cwd = join(dir, evil);
    mkdirSync(cwd);
    const manager = new ShellManager({ stateRoot: home });
    await manager.createShell({
      command: `: '${evil}'; exec sleep 1000`,
      workingDir: cwd,
      name: "dev<script>",
    });
    const { page, errors } = await open(await ui());
    await row(page, "dev<script>").click();
    await shown(page, ".command", "ESC[31mU+202EBEL");
    await shown(page, ".facts-list", "U+202E");
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.locator("main").textContent()).not.toMatch(/[\u001b\u202e\u0007]/);
    expect(await page.title()).toBe("nacre");
    expect(errors).toEqual([]);
    await manager.dispose();
  });
});

test.skipIf(noBrowser !== undefined)(
  "if no stream is free, the page reports that, and shows the output as soon as one is free",
  async () => {
    const { ui, start } = create();
    start("echo patience; exec sleep 1000", "--name", "dev");
    const server = await ui();
    const ending = new AbortController();
    const { page } = await open(server);
    await shown(page, "button.row", "dev");
    await Promise.all(
      Array.from({ length: UI_STREAMS_MAX_COUNT - 1 }, () =>
        server.api("/api/events", { signal: ending.signal }),
      ),
    );
    await row(page, "dev").click();
    await shown(
      page,
      ".log-note",
      `${UI_STREAMS_MAX_COUNT} streams are open. Close other tabs of this page.`,
    );
    ending.abort();
    await shown(page, ".log .ln", "patience");
  },
);

test("no request path leads to files other than those of the page and of shells", async () => {
  const { ui, home } = create();
  const page = await ui("--control");
  mkdirSync(join(home, "shells"), { recursive: true });
  writeFileSync(join(home, "shells", "meta"), "{}");
  const statics = [
    "/../../../etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/%2e%2e/serve-ui.js",
    "/page.js%00.html",
    "//etc/passwd",
  ];
  for (const path of statics) expect([path, await statusOf(page, path)]).toEqual([path, 404]);
  const ids = [
    "..%2f..%2fetc",
    "%00",
    "shell_0000000",
    "shell_00000000%2f..",
    "m1.shell_00000000",
    "m1.%2e%2e",
    "__proto__",
  ];
  for (const id of ids)
    for (const action of ["output", "search", "processes", "screen"]) {
      const path = `/api/shells/${id}/${action}`;
      expect([path, await statusOf(page, path)]).toEqual([path, 404]);
    }
  expect(await statusOf(page, "/api/shells/%zz/output")).toBe(400);
  for (const path of [
    "/api/shells/..%2f..%2f/kill",
    "/api/approvals/..%2f..%2fetc",
    "/api/remembered/..%2fx/forget",
  ])
    expect(await statusOf(page, path, "POST")).toBeGreaterThanOrEqual(400);
  expect((await page.api("/api/server")).status).toBe(200);
});

test("a flood of streams is refused, and the server continues", async () => {
  const page = await create().ui();
  const ending = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: UI_STREAMS_MAX_COUNT }, () => page.api("/api/events", { signal: ending.signal })),
  );
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await page.api("/api/events");
  expect([refused.status, await refused.json()]).toMatchObject([429, { error_code: "limit_reached" }]);
  expect((await page.api("/api/shells")).status).toBe(200);
  ending.abort();
  await eventually(async () => {
    const again = new AbortController();
    const { status } = await page.api("/api/events", { signal: again.signal });
    again.abort();
    expect(status).toBe(200);
  });
});
