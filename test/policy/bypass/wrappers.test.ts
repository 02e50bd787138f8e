import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding a command behind a wrapper", () => {
  it.each([
    "sudo -n -u root rm -rf /",
    "doas rm -rf /",
    "su -c 'rm -rf /'",
    "env -S 'rm -rf /'",
    "env -C / rm -rf .",
    "command rm -rf /",
    "exec rm -rf /",
    "nohup rm -rf /",
    "nice -n 10 rm -rf /",
    "ionice -c 3 rm -rf /",
    "timeout -k 5 -s KILL 60 rm -rf /",
    "time rm -rf /",
    "setsid rm -rf /",
    "stdbuf -oL rm -rf /",
    "chroot / rm -rf /",
    "unshare -r rm -rf /",
    "nsenter -t 1 -m rm -rf /",
    "strace -f rm -rf /",
    "watch -n 1 rm -rf /",
    "flock /tmp/l -c 'rm -rf /'",
    "script -qc 'rm -rf /' /dev/null",
    "systemd-run --user rm -rf /",
    "busybox rm -rf /",
    "xargs rm -rf <<< /",
    "parallel rm -rf ::: /",
  ])("a dangerous command behind a wrapper is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each([
    "timeout 10 npm test",
    "nice -n 5 make",
    "env NODE_ENV=test npm test",
    "watch -n1 date",
    "time make",
  ])("harmless commands of the same form are allowed: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });
});
