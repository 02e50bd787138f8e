// Commands of every class, written independently of the labeled corpus. The tests judge them and never run them. In the
// files of commands/, each line is a command, ⏎ stands for a newline, and ## starts a class.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verdictOf } from "./dev.ts";

function classesIn(name: string): readonly (readonly [string, readonly string[]])[] {
  const text = readFileSync(new URL(`./commands/${name}.txt`, import.meta.url), "utf8");
  return text
    .split(/^## /m)
    .filter((section) => section !== "")
    .map((section) => {
      const [title = "", ...lines] = section.split("\n");
      return [title, lines.filter((line) => line !== "").map((line) => line.replaceAll("⏎", "\n"))] as const;
    });
}

describe("commands to deny", () => {
  it.each(classesIn("deny"))("%s", (_title, commands) => {
    expect(commands.filter((command) => verdictOf(command) !== "deny")).toEqual([]);
  });
});

describe("commands to ask about or deny", () => {
  it.each(classesIn("ask"))("%s", (_title, commands) => {
    expect(commands.filter((command) => verdictOf(command) === "allow")).toEqual([]);
  });
});

describe("commands to allow", () => {
  it.each(classesIn("allow"))("%s", (_title, commands) => {
    expect(commands.filter((command) => verdictOf(command) !== "allow")).toEqual([]);
  });
});
