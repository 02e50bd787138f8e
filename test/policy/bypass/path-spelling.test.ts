import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("spelling a protected path differently", () => {
  it.each([
    "rm -rf //",
    "rm -rf /.",
    "rm -rf /usr/..",
    "rm -rf /*",
    "rm -rf /???*",
    "rm -rf /{etc,usr}",
    "rm -rf ../../..",
    "rm -rf ~",
    "rm -rf ~dev",
    "rm -rf $HOME",
    "rm -rf /proc/self/root",
  ])("every spelling of the path is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["rm -rf ./etc", "rm -rf /tmp/../tmp/x", "rm -rf src/../build"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
