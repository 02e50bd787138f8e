import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding text with invisible characters", () => {
  it.each(["ls\r", "ls\u0000", "ls\u00a0-la\u200b", "echo \u202egpj", "l\u200bs", "echo \ud800"])(
    "the policy asks about hidden characters: %j",
    (command) => {
      expect(verdictOf(command)).toBe("ask");
    },
  );

  it.each(["echo 'na\u00efve'", "git commit -m '\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67'"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
