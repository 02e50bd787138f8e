// Terminals on the page, in a real browser: the screen, typing, and secrets that nacre does not store.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../fixtures/eventually.ts";
import { noBrowser, PHONE, picture, row, shown, useBrowser, violationsOf } from "./browser.ts";
import { useUi } from "./ui-program.ts";

const create = useUi();
const open = useBrowser();

const LOGIN =
  'read -rp "User: " user; read -rsp "Password: " secret; echo; echo "hello $user, $(echo -n "$secret" | wc -c) characters"; read -rp "Next: " next; echo "got $next"';

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** Returns the files below the folder that contain the text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path).isFile() && readFileSync(path, "latin1").includes(text));
}

describe.skipIf(noBrowser !== undefined)("a terminal on the page", () => {
  test("shows its screen, accepts a line and a secret, and does not store the secret", async () => {
    const { ui, terminal, home } = create();
    terminal(LOGIN, "--name", "login");
    const server = await ui("--control");
    const { page, errors } = await open(server);
    await row(page, "login").click();
    await shown(page, ".screen-row", "User:");
    await shown(page, ".log-note", "It waits for a line.");
    await page.getByLabel("Type a line").fill("ann");
    await page.keyboard.press("Enter");
    await shown(page, ".screen-row", "Password:");
    await shown(page, ".log-note", "It asks for a secret");
    await shown(page, ".group.you button.row", "asks for a secret");
    expect(await page.getByLabel("Type a line").getAttribute("type")).toBe("password");
    expect(await violationsOf(page)).toEqual([]);
    await picture(page, "ui-terminal-secret");
    await page.getByLabel("Type a line").fill("correct-horse-7");
    await page.keyboard.press("Enter");
    await shown(page, ".screen-row", "hello ann, 15 characters");
    // Keys in the screen itself go to the program.
    await page.locator(".screen").focus();
    await page.keyboard.type("lats");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Enter");
    await shown(page, ".screen-row", /^got lat$/);
    await shown(page, ".log-note", "It has ended.");
    expect(filesWith(home, "correct-horse-7")).toEqual([]);
    expect(server.printed()).not.toContain("correct-horse-7");
    expect(await page.content()).not.toContain("correct-horse-7");
    expect(errors).toEqual([]);
  });

  test("shows a full-screen program as it draws, even on a phone", async () => {
    const { ui, terminal } = create();
    terminal(
      `exec bash --norc -c 'printf "\\033[?1049h\\033[2J\\033[5;10Hmiddle\\033[1;1Htop"; read -rsn1; printf "\\033[2;1Hnext"; read -rsn1'`,
      "--name",
      "full",
    );
    const { page } = await open(await ui("--control"), { viewport: PHONE, colorScheme: "dark" });
    await row(page, "full").click();
    await shown(page, ".screen-row", /^ {9}middle$/);
    expect(await page.locator(".screen-row").first().textContent()).toBe("top ");
    await page.getByRole("button", { name: "Escape" }).click();
    await shown(page, ".screen-row", "next");
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    await picture(page, "ui-terminal-phone-dark");
  });

  test("is shown without input fields on a read-only page", async () => {
    const { ui, terminal } = create();
    terminal(LOGIN, "--name", "login");
    const { page } = await open(await ui());
    await row(page, "login").click();
    await shown(page, ".screen-row", "User:");
    await shown(page, ".terminal", "This page is read-only");
    expect(await page.locator(".terminal input, .terminal button").count()).toBe(0);
  });

  test("shows a program's output as text, never as markup or links", async () => {
    const { ui, terminal } = create();
    terminal(
      String.raw`printf '<img src=x onerror="document.title=1">\n\033]8;;http://evil.test\033\\link\033]8;;\033\\\n\033]52;c;b3duZWQ=\007abc\342\200\256def\n\033]0;<b>title</b>\007'; sleep 1000`,
      "--name",
      "hostile",
    );
    const { page, requests, errors } = await open(await ui());
    await row(page, "hostile").click();
    await shown(page, ".screen-row", "link");
    expect((await page.locator(".screen-row").allTextContents()).slice(0, 3)).toEqual([
      '<img src=x onerror="document.title=1">',
      "link",
      expect.stringMatching(/^abc.*def$/),
    ]);
    expect(await page.locator("main a, main img, main b").count()).toBe(0);
    expect(await page.locator("main").textContent()).not.toMatch(/[\u001b\u202e]/);
    expect(requests.filter((url) => url.includes("evil"))).toEqual([]);
    expect(errors).toEqual([]);
  });
});

test("a read-only server refuses typed input, and the program does not receive it", async () => {
  const { ui, terminal, nacre } = create();
  const id = terminal("read -rp 'Name: ' name; echo \"name $name\"");
  const page = await ui();
  const response = await page.api(`/api/shells/${id}/type`, post({ text: "eve", keys: ["Enter"] }));
  expect(response.status).toBe(403);
  expect(JSON.parse(nacre("ps", "--json")).shells).toMatchObject([{ id, status: "running" }]);
});

test("wrong input and a shell without a terminal are refused with the reason", async () => {
  const { ui, start, terminal } = create();
  const page = await ui("--control");
  const plain = start("exec sleep 1000");
  const id = terminal("read -r line");
  const errorOf = async (path: string, body: unknown) => {
    const response = await page.api(`/api/shells/${path}`, post(body));
    return [response.status, ((await response.json()) as { error: string }).error];
  };
  expect(await errorOf(`${plain}/type`, { text: "x" })).toEqual([
    400,
    expect.stringContaining("has no terminal"),
  ]);
  expect(await errorOf(`${id}/type`, { text: 7 })).toEqual([
    400,
    expect.stringContaining("text must be a string"),
  ]);
  expect(await errorOf(`${id}/type`, { keys: ["Nope"] })).toEqual([400, expect.stringContaining("Nope")]);
  await eventually(async () => {
    const screen = await page.api(`/api/shells/${plain}/screen`);
    expect([screen.status, await screen.json()]).toMatchObject([
      400,
      { error: expect.stringContaining("terminal") },
    ]);
  });
});
