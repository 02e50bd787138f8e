// A real browser (chromium, through its DevTools protocol) on the page. Every request of the page is recorded.
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { UiProgram } from "./ui-program.ts";

/** Prefers the headless shell: the complete browser starts more processes, and the tests would take twice as long. */
const CHROMIUM = ["chromium-headless-shell", "chromium", "chromium-browser"]
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

/** Why no browser is available; undefined if one is. */
export const noBrowser = CHROMIUM === undefined ? "chromium is not installed" : undefined;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface OpenPage {
  readonly page: Page;
  /** The addresses that the page has requested. */
  readonly requests: readonly string[];
  /** Errors in the console, and exceptions. */
  readonly errors: readonly string[];
}

export const WIDE = { width: 1600, height: 1000 };
export const PHONE = { width: 360, height: 740 };

/** Call once per test file. */
export function useBrowser() {
  let browser: Browser | undefined;
  const contexts = new Set<BrowserContext>();
  beforeAll(async () => {
    if (CHROMIUM === undefined) return;
    // With the default, chromium would create the configuration directory, which tests expect to be missing.
    const env = { ...process.env, XDG_CONFIG_HOME: tmpdir() };
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, env });
  });
  // Close all pages: an open page would keep rendering while the next tests run.
  afterEach(async () => {
    for (const context of contexts) await context.close();
    contexts.clear();
  });
  afterAll(async () => {
    await browser?.close();
  });

  return async (
    { link }: Pick<UiProgram, "link">,
    options: BrowserContextOptions = {},
  ): Promise<OpenPage> => {
    if (!browser) throw new Error(noBrowser);
    const context = await browser.newContext({ viewport: WIDE, ...options });
    contexts.add(context);
    const page = await context.newPage();
    const requests: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !/401|net::ERR|Failed to load/.test(message.text()))
        errors.push(message.text());
    });
    await page.goto(link);
    return { page, requests, errors };
  };
}

/** The rows of the list that contain the text. */
export const row = (page: Page, text: string) => page.locator("button.row", { hasText: text });

/** Waits for an element that contains the text. */
export const shown = async (page: Page, selector: string, text: string | RegExp) =>
  await page.locator(selector, { hasText: text }).first().waitFor();

/** The violations that axe finds. axe runs in an isolated world, where the page's policy does not apply. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
  });
  await session.send("Runtime.evaluate", { expression: axe.source, contextId });
  const { result } = await session.send("Runtime.evaluate", {
    contextId,
    awaitPromise: true,
    returnByValue: true,
    expression: `axe.run(document).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 160)).join(" | ")))`,
  });
  expect(Array.isArray(result.value), JSON.stringify(result)).toBe(true);
  return result.value as string[];
}

const FOLDER = process.env["NACRE_SCREENSHOTS"];

/** Takes a picture for docs/ui.md, and stores it if NACRE_SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  if (FOLDER !== undefined) mkdirSync(FOLDER, { recursive: true });
  await page.screenshot(FOLDER === undefined ? {} : { path: join(FOLDER, `${name}.png`) });
}
