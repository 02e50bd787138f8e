import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding a command in encoded text", () => {
  it.each([
    "echo cm0gLXJmIC8= | base64 -d | sh",
    "$(printf '\\x72\\x6d') -rf /",
    "printf '\\x72\\x6d -rf /' | sh",
    "echo 726d202d7266202f | xxd -r -p | bash",
    "echo '/ fr- mr' | rev | sh",
    "echo 'ez -es /' | tr a-z n-za-m | sh",
  ])("a dangerous command in an encoded constant that a shell runs is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["echo aGVsbG8= | base64 -d"])("harmless commands of the same form are allowed: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });
});
