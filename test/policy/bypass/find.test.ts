import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("deleting files through a search", () => {
  it.each([
    "find / -delete",
    "find / -exec rm -rf {} +",
    "find / -type f -execdir rm {} \\;",
    "find / -ok rm {} \\;",
    "find / | xargs rm -f",
    "fd . / -x rm -rf",
    "find ~ -type f -delete",
  ])("deleting everything that a search finds below / or ~ is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each([
    "find . -name '*.o' -delete",
    "find / -name libssl.so 2>/dev/null",
    "find . -name '*.pyc' -print0 | xargs -0 rm -f",
  ])("harmless commands of the same form are allowed: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });
});
