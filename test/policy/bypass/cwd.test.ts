import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("bypass by cwd", () => {
  it.each([
    "cd / && rm -rf *",
    "pushd / && rm -rf *",
    "(cd / && rm -rf -- *)",
    "env -C / rm -rf .",
    "cd ../../.. && rm -rf *",
    "cd && rm -rf *",
    "cd / ; find . -delete",
  ])("the directory is followed: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["cd packages/a && rm -rf dist", "cd / && ls", "cd build && rm -rf *", "(cd /); rm -rf build"])(
    "what only looks like it passes: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
