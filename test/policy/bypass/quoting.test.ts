import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding a command with quotes and escapes", () => {
  it.each([
    "\\rm -rf /",
    "r''m -rf /",
    "$'\\x72\\x6d' -rf /",
    'rm -rf "/"',
    "rm \\\n -rf /",
    "{rm,-rf,/}",
    "rm -{r,f} /",
    "r\\\nm -rf /",
  ])("a dangerous command with quotes or escapes in it is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["echo '\\rm -rf /'", "echo {rm,-rf,/}"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
