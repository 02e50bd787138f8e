import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("changing the permissions of system directories", () => {
  it.each([
    "chmod -R 777 /",
    "chown -R dev /",
    "chgrp -R dev /",
    "setfacl -R -m u:dev:rwx /",
    "chattr -R +i /",
    "chmod u+s /bin/bash",
    "find / -exec chown nobody {} \\;",
  ])("changing the permissions of system directories is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["chmod +x a.sh", "chmod -R 755 dist", "chown -R dev:dev ./data"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
