import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("bypass by processes", () => {
  it.each([
    "kill -9 -1",
    "kill -9 1",
    "kill -s 9 -- -1",
    "killall5 -9",
    "pkill -9 .",
    "shutdown now",
    "systemctl poweroff",
    "init 0",
    "echo b > /proc/sysrq-trigger",
  ])("nobody ends everything: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["kill %1", "kill 1234", "pkill -f 'vite --port 5173'", "shutdown --help"])(
    "what only looks like it passes: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
