import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("spelling destructive flags differently", () => {
  it.each([
    "rm -fr /",
    "rm -r -f /",
    "rm -Rf /",
    "rm --recurs --forc /",
    "rm / -rf",
    "rm -rf -- /",
    "rm -v -r -f /",
  ])("every spelling of the flags is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["rm -rf -- dist", "rm -r --force out"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
