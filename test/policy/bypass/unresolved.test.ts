import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("using values that are known only at run time", () => {
  it.each([
    "$X y",
    'rm -rf "$X"',
    'cd "$X" && rm -rf *',
    'eval "$X"',
    'bash -c "$1"',
    "cat list | xargs rm -rf",
    "foo rm -rf /",
  ])("the policy asks if a value known only at run time could destroy something: %j", (command) => {
    expect(verdictOf(command)).toBe("ask");
  });

  it.each(['rm -f "$tmp"', 'echo "$X"', "kill $(cat pid)"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
