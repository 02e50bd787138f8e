import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("starting a fork bomb", () => {
  it.each([
    ":(){ :|:& };:",
    ":(){:|:&};:",
    "b(){ b & b & }; b",
    "a(){ b & }; b(){ a & }; a",
    "while :; do x & done",
    "for ((;;)); do ./x & done",
    "bash -c ':(){ :|:& };:'",
    "perl -e 'fork while fork'",
  ])("a fork bomb is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["echo ':(){ :|:& };:'", "for i in 1 2; do x & done; wait", "while true; do date; sleep 1; done"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
