// The page in a real browser.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { UI_ENDED_MAX_COUNT } from "../../src/support/limits.ts";
import { eventually } from "../fixtures/eventually.ts";
import { noBrowser, PHONE, picture, row, shown, useBrowser, violationsOf, WIDE } from "./browser.ts";
import { useUi } from "./ui-program.ts";

const create = useUi();
const open = useBrowser();

describe.skipIf(noBrowser !== undefined)("the page", () => {
  test("lists first what needs attention, and removes the token from the address", async () => {
    const { ui, start, request } = create();
    start("exit 3");
    start("echo fine");
    start("echo hello from dev; exec sleep 1000", "--name", "dev");
    const id = request();
    const { page, requests, errors } = await open(await ui());
    await shown(page, "button.row", "dev");
    expect(await page.locator(".group h2").allTextContents()).toEqual([
      "Needs you 1",
      "Failed 1",
      "Running 1",
      "Done 1",
    ]);
    expect(await page.title()).toBe("(1) nacre");
    await row(page, "git clean").click();
    await shown(page, ".card", "May this command run?");
    await shown(page, ".card", `nacre approve ${id}`);
    expect(await page.locator('[data-answer="approve"]').count()).toBe(0);
    expect(page.url()).not.toContain("token");
    expect(await page.evaluate("document.referrer")).toBe("");
    const { origin } = new URL(page.url());
    expect(requests.filter((url) => new URL(url).origin !== origin)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("reports how many older shells it does not show", async () => {
    const { ui, home, dir } = create();
    await using manager = new ShellManager({ stateRoot: home });
    for (let count = 0; count < UI_ENDED_MAX_COUNT + 2; count++) {
      const shell = await manager.createShell({ command: ":", workingDir: dir });
      await shell.wait();
    }
    const { page } = await open(await ui());
    await shown(page, ".group.done h2", `Done ${UI_ENDED_MAX_COUNT}`);
    await shown(page, ".older", "2 older shells are not shown.");
    expect(await violationsOf(page)).toEqual([]);
  });

  test("shows output as it arrives, and searches all output", async () => {
    const { ui, start, dir } = create();
    writeFileSync(join(dir, "lines"), "");
    start("seq 1 20000; echo the needle; tail -f lines", "--name", "dev");
    const { page } = await open(await ui());
    await row(page, "dev").click();
    await shown(page, ".log .ln", "the needle");
    writeFileSync(join(dir, "lines"), "a new line\n", { flag: "a" });
    await shown(page, ".log .ln", "a new line");
    expect(await page.locator(".log .ln").count()).toBeLessThan(20_000);
    await page.keyboard.press("s");
    await page.keyboard.type("^(777|the needle)$");
    await page.keyboard.press("Enter");
    await shown(page, ".log-note", "2 lines match in 20002 lines");
    expect(await page.locator(".found .ln").allTextContents()).toEqual(["777777", "20001the needle"]);
    await page.locator("#search").fill("(");
    await page.keyboard.press("Enter");
    await shown(page, ".log-note", /not valid|missing|unclosed|cannot/i);
    await page.getByRole("button", { name: "Back to the output" }).click();
    await shown(page, ".log .ln", "a new line");
  });

  test("shows a program's output as text, never as markup or control sequences", async () => {
    const { ui, dir, start } = create();
    const hostile = [
      "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
      "\u001b]8;;http://evil.test\u001b\\link\u001b]8;;\u001b\\",
      "\u001b]52;c;b3duZWQ=\u0007",
      "abc\u202eeslaf\u2066\u200b",
      "\u001b[31mred\u001b[0m",
    ];
    writeFileSync(join(dir, "hostile"), `${hostile.join("\n")}\n`);
    start(`cat hostile; sleep 1000 # <b>bold</b>`, "--name", "dev");
    const { page, requests, errors } = await open(await ui());
    await row(page, "dev").click();
    await shown(page, ".log .ln", "red");
    expect(await page.locator(".log .ln").allTextContents()).toEqual([
      hostile[0],
      "ESC]8;;http://evil.testESC\\linkESC]8;;ESC\\",
      "ESC]52;c;b3duZWQ=BEL",
      "abcU+202EeslafU+2066U+200B",
      "red",
    ]);
    expect(await page.locator("main a, main img, main script, main b").count()).toBe(0);
    expect(await page.locator("main").textContent()).not.toMatch(/[\u001b\u202e\u2066]/);
    expect(await page.title()).toBe("nacre");
    expect(requests.filter((url) => url.includes("evil"))).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("lets a person approve, deny with a reason, and have an answer remembered", async () => {
    const { ui, request, nacre } = create();
    const ids = [request("git clean -fdx"), request("npm publish"), request("git push -f nowhere main")];
    const { page } = await open(await ui("--control"));
    await row(page, "git clean").click();
    await page.getByRole("button", { name: "Approve" }).click();
    await shown(page, ".card", "Approved by the page");
    await row(page, "npm publish").click();
    await page.getByLabel("Reason, if you deny").fill("Not on a Friday.");
    await page.getByRole("button", { name: "Deny" }).click();
    await shown(page, ".card", "Not on a Friday.");
    await row(page, "git push").click();
    await page.getByLabel("The answer counts for").selectOption("workspace");
    await page.getByRole("button", { name: "Approve" }).click();
    await shown(page, ".card", "Approved by the page");
    const [cleaned, published, pushed] = ids;
    expect(JSON.parse(nacre("approvals", "--json"))).toMatchObject([
      { id: cleaned, status: "approved" },
      { id: published, status: "denied", answer: { by: "the page", reason: "Not on a Friday." } },
      { id: pushed, status: "approved", answer: { remembered: expect.any(String) } },
    ]);
    await page.getByRole("button", { name: "Remembered" }).click();
    await shown(page, "dialog li", "git push -f nowhere main");
    await page.getByRole("button", { name: "Forget" }).click();
    await shown(page, "dialog", "No answer is remembered.");
    expect(JSON.parse(nacre("approvals", "--remembered", "--json"))).toEqual([]);
  });

  test("shows an answer that another process gave", async () => {
    const { ui, request, nacre } = create();
    const id = request();
    const { page } = await open(await ui("--control"));
    await row(page, "git clean").click();
    await shown(page, ".card", "May this command run?");
    nacre("deny", id, "--reason", "Too late.");
    await shown(page, ".card", "Denied by nacre deny");
    await eventually(async () => expect(await page.locator(".group.you").count()).toBe(0));
  });

  test("kills a shell only after a second click, and then shows that no process is left", async () => {
    const { ui, start, nacre } = create();
    const id = start("sleep 1000 & sleep 1000");
    const { page } = await open(await ui("--control"));
    await row(page, "sleep").click();
    await page.getByRole("button", { name: "Processes" }).click();
    await shown(page, ".processes", "waits for a timer");
    const kill = page.locator('[data-action="kill"]');
    await kill.click();
    await kill.click();
    await shown(page, ".outcome", "found nothing left");
    await shown(page, ".card h2", "killed by the page");
    expect(JSON.parse(nacre("ps", "--json")).shells).toMatchObject([{ id, status: "killed" }]);
  });

  test("can be used with the keyboard alone", async () => {
    const { ui, start, request, nacre } = create();
    const approval = request();
    const shell = start("echo alone; exec sleep 1000");
    const { page } = await open(await ui("--control"));
    await shown(page, "button.row", "alone");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await shown(page, ".card", "May this command run?");
    await page.keyboard.press("a");
    expect(await page.evaluate("document.activeElement.dataset.answer")).toBe("approve");
    await page.keyboard.press("Enter");
    await shown(page, ".card", "Approved by the page");
    await page.keyboard.press("/");
    await page.keyboard.type("alone");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await page.locator("button.row").first().focus();
    await page.keyboard.press("Enter");
    await shown(page, ".log .ln", "alone");
    await page.keyboard.press("x");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await shown(page, ".outcome", "found nothing left");
    await page.keyboard.press("Escape");
    expect(await page.evaluate("document.activeElement.className")).toBe("row");
    await page.keyboard.press("?");
    await shown(page, "dialog", "Keyboard");
    await page.keyboard.press("Escape");
    expect(JSON.parse(nacre("approvals", "--json"))).toMatchObject([{ id: approval, status: "approved" }]);
    expect(JSON.parse(nacre("ps", "--json")).shells).toMatchObject([{ id: shell, status: "killed" }]);
  });

  test("reports a lost connection, and reconnects after a restart of the server", async () => {
    const { ui, start } = create();
    const first = await ui();
    start("exec sleep 1000", "--name", "before");
    const { page } = await open(first);
    await shown(page, "button.row", "before");
    await first.stop();
    await shown(page, ".banner", "Connection lost");
    await picture(page, "ui-disconnected");
    await shown(page, ".banner", `nacre ui --port ${first.port}`);
    start("exec sleep 1000", "--name", "after");
    await ui("--port", String(first.port));
    await shown(page, "button.row", "after");
    expect(await page.locator("#link").textContent()).toBe("live");
    expect(await page.locator("#banner").isHidden()).toBe(true);
    await page.reload();
    await shown(page, "button.row", "after");
  });

  test("explains what to do about a missing token, a wrong token, and an empty list", async () => {
    const { ui } = create();
    const { url, link } = await ui();
    const bare = await open({ link: url });
    await shown(bare.page, ".banner", "This address alone does not open the page.");
    const wrong = await open({ link: `${url}#token=${"x".repeat(32)}` });
    await shown(wrong.page, ".banner", "This link is no longer valid.");
    const empty = await open({ link });
    await shown(empty.page, ".empty", "All quiet.");
    await picture(empty.page, "ui-empty");
    for (const { page } of [bare, wrong, empty]) expect(await violationsOf(page)).toEqual([]);
  });

  test("refuses code and markup that another script would add", async () => {
    const { ui } = create();
    const { page } = await open(await ui());
    const refused = await page.evaluate(
      "try { document.body.innerHTML = '<b>x</b>'; 'accepted' } catch (error) { String(error) }",
    );
    expect(refused).toContain("TrustedHTML");
    expect(await page.evaluate("fetch('http://127.0.0.1:1/').then(String, String)")).toContain(
      "Failed to fetch",
    );
  });

  const LOOKS = [
    ["wide", "light", WIDE],
    ["wide", "dark", WIDE],
    ["phone", "light", PHONE],
    ["phone", "dark", PHONE],
  ] as const;

  test("is accessible and fits the screen, wide or phone, light or dark", async () => {
    const { ui, start, request } = create();
    start(
      "echo 'compiling 214 files'; echo \"src/cart.ts(48,7): error TS2322: Type 'string' is not assignable to type 'number'.\" >&2; exit 2",
      "--name",
      "typecheck",
    );
    start("echo '214 passed, 0 failed'", "--name", "test");
    start(
      'i=0; while :; do i=$((i+1)); echo "GET /api/items/$i 200 $((RANDOM % 40)) ms"; sleep 0.1; done',
      "--name",
      "dev",
    );
    start("echo ready; exec sleep 1000", "--name", "worker");
    request("git clean -fdx");
    request("rm -rf /srv/shop/cache");
    const server = await ui("--control");
    for (const [size, colorScheme, viewport] of LOOKS) {
      const { page, errors } = await open(server, { colorScheme, viewport });
      const check = async (name: string) => {
        expect([name, size, colorScheme, await violationsOf(page)]).toEqual([name, size, colorScheme, []]);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([name, size, overflow]).toEqual([name, size, 0]);
        await picture(page, `ui-${name}-${size}-${colorScheme}`);
      };
      await shown(page, "button.row .facts", "MiB");
      await check("list");
      await row(page, "rm -rf").click();
      await shown(page, ".card", "May this command run?");
      await check("approval");
      if (size === "phone") await page.getByRole("button", { name: "All shells" }).click();
      await row(page, "dev").click();
      await shown(page, ".log .ln", "GET /api/items/30 ");
      await check("shell");
      expect(errors).toEqual([]);
      await page.context().close();
    }
  });
});

test("the files of the page contain no address of another server", () => {
  const folder = join(import.meta.dirname, "../../src/ui/page");
  for (const name of ["index.html", "page.js", "connection.js", "page.css", "colors.css"])
    expect(readFileSync(join(folder, name), "utf8")).not.toMatch(/https?:\/\//);
});
