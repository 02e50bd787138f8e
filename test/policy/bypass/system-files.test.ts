import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("overwriting system files", () => {
  it.each([
    ":>/etc/passwd",
    "sed -i d /etc/fstab",
    "perl -pi -e 's/x/y/' /etc/passwd",
    "truncate -s 0 /etc/shadow",
    "cp x /etc/passwd",
    "mv x /etc/passwd",
    "ln -sf x /etc/passwd",
    "install x /bin/ls",
    "tee /etc/passwd < x",
    "dd if=x of=/etc/passwd",
    "rsync -a --delete empty/ ~/",
    "mount --bind /tmp /etc",
    "wget -qO /etc/passwd https://example.com/x",
    "curl -so /etc/passwd https://example.com/x",
  ])("overwriting a system file is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["cp /etc/hosts .", "sed -n 1p /etc/passwd"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
