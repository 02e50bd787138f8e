// docs/tour.svg shows the current output of the program, and every page can show the picture.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawTour, recordTour, TOUR_FILE } from "../../scripts/record-tour.mjs";
import { noSandbox } from "../fixtures/sandboxes.ts";

const picture = readFileSync(TOUR_FILE, "utf8");

/** The text of the picture. Ids and PIDs differ from run to run. */
function textOf(svg: string): string[] {
  return [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, text = ""]) =>
    text.replace(/<[^>]*>/g, "").replace(/(shell_|preview_)[0-9a-f]+|(pid) \d+/g, "$1$2"),
  );
}

test("the tour shows the output of its commands; node scripts/record-tour.mjs writes it", ({ skip }) => {
  skip(noSandbox !== undefined, noSandbox);
  expect(textOf(picture)).toEqual(textOf(drawTour(recordTour())));
});

test("the picture is small, loads nothing, and moves only if the reader has not turned motion off", () => {
  expect(picture.length).toBeLessThan(60_000);
  expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
    /https?:|url\(|@import|<script|href/,
  );
  expect(picture).toContain("prefers-reduced-motion:no-preference");
  expect(picture).toContain("prefers-color-scheme:dark");
});
